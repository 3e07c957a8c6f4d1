// SPDX-License-Identifier: Apache-2.0
// `attnscope compare` as used by people and scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "fake_driver.h"
#include "messages/compare.h"
#include "subprocess.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Compare : public ::testing::Test {
 protected:
  /// Imports times into a file; one row per point: algorithm, N, time in ns.
  fs::path imported(const std::string& name, const std::string& rows,
                    const std::string& header = "device,algorithm,N,heads,d,time_ns") {
    const fs::path table = folder_ / (name + ".csv");
    std::ofstream(table) << header << '\n' << rows;
    const fs::path file = folder_ / (name + ".attnscope");
    const Outcome outcome = run(folder_, {"import", table, "-o", file});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return file;
  }

  Outcome compared(const Words& words) { return run(folder_, Words{"compare"} + words); }

  void expect_refusal(const Words& words, int code, const std::string& says) {
    const Outcome outcome = compared(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  TemporaryFolder folder_;
  fs::path before_ = imported("before", "GPU X,mine,512,16,64,1000\nGPU X,mine,1024,16,64,4000\n");
};

TEST_F(Compare, fails_on_regression_only) {
  const fs::path after = imported("after", "GPU X,mine,512,16,64,1200\nGPU X,mine,1024,16,64,4010\n");
  const Outcome plain = compared({before_, "--candidate", after});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.out,
              AllOf(::testing::StartsWith("after against before: 1 of 2 configurations is SLOWER, by 20% (N 512). "
                                          "1 UNDECIDED. Geometric mean 1.097 [1.045, 1.152, assumed].\n"
                                          "FASTER 0, SLOWER 1, SAME 0, UNDECIDED 1, not compared 0.\n"),
                    HasSubstr("\nAll rows: mine, fwd, d 64, full, fp16, 1 × 16 heads, L2 state unknown; assumed "
                              "intervals; imported times; rounds 1.\n"),
                    HasSubstr("\nSLOWER     1.200 [1.143, 1.260]   512    1 µs  1.200 µs\n")));
  const Outcome failed = compared({before_, "--candidate", after, "--fail-on-regression", "10%"});
  EXPECT_EQ(failed.exit_code, 4);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("10%"), HasSubstr(" 1 row: mine fp16 batch 1 heads 16 N 512 d 64")));
  EXPECT_THAT(failed.err, HasSubstr(": 1.200 [1.143, 1.260, assumed]"));
  // The lower bound of the interval is 1.143; the joint one for both rows is 1.135.
  EXPECT_EQ(compared({before_, "--candidate", after, "--fail-on-regression", "15"}).exit_code, 4);
  EXPECT_EQ(compared({before_, "--candidate", after, "--fail-on-regression", "21"}).exit_code, 0);
  EXPECT_EQ(compared({before_, "--candidate", after, "--fail-on-significant-regression", "13"}).exit_code, 4);
  EXPECT_EQ(compared({before_, "--candidate", after, "--fail-on-significant-regression", "14"}).exit_code, 0);
  const Outcome junit = compared({before_, "--candidate", after, "--format", "junit"});
  EXPECT_THAT(junit.out, AllOf(HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\""),
                               HasSubstr("<failure message=\"SLOWER 1.200 [1.143, 1.260, assumed]\"/>"),
                               HasSubstr("<skipped message=\"UNDECIDED")));
  const nlohmann::json document =
      nlohmann::json::parse(compared({before_, "--candidate", after, "--format", "json"}).out);
  EXPECT_THAT(plain.out, ::testing::StartsWith(document["head"].get<std::string>() + "\n"));
  const nlohmann::json& answers = document["answers"];
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]["points"], 2);
  EXPECT_NEAR(answers[0]["min_slowdown"].get<double>(), 0.13488, 1e-5);
  EXPECT_EQ(compared({after, "--candidate", before_, "--fail-on-regression", "1"}).exit_code, 0);
}

TEST_F(Compare, names_up_to_five_regressions) {
  for (const auto& [rows, more] : {std::pair(5, false), {6, true}}) {
    std::string before;
    std::string after;
    for (int i = 1; i <= rows; ++i) {
      before += fmt::format("GPU X,mine,{},16,64,1000\n", 64 * i);
      after += fmt::format("GPU X,mine,{},16,64,{}\n", 64 * i, 2000 - i);
    }
    const Outcome failed = compared({imported(fmt::format("b{}", rows), before), "--candidate",
                                     imported(fmt::format("a{}", rows), after), "--fail-on-regression", "10"});
    EXPECT_EQ(failed.exit_code, 4);
    EXPECT_THAT(failed.err, AllOf(HasSubstr(fmt::format(" {} rows: ", rows)), HasSubstr(" N 320 d 64")));
    EXPECT_EQ(failed.err.find("; ...") != std::string::npos, more);
    EXPECT_EQ(failed.err.find(" N 384 "), std::string::npos);
  }
}

// The second of two candidates is slower in its second row, and no longer runs the first.
TEST_F(Compare, judges_every_candidate) {
  const fs::path same = imported("same", "GPU X,mine,512,16,64,1000\nGPU X,mine,1024,16,64,4000\n");
  const fs::path slow = imported("slow", "GPU X,mine,512,16,64,1000\nGPU X,mine,1024,16,64,8000\n");
  const std::string header = "device,algorithm,N,heads,d,disposition,reason,time_ns";
  const fs::path broken =
      imported("broken", "GPU X,mine,512,16,64,crashed,boom,\nGPU X,mine,1024,16,64,ok,,4000\n", header);
  const fs::path wrong =
      imported("wrong", "GPU X,mine,512,16,64,incorrect,off,\nGPU X,mine,1024,16,64,timeout,late,\n", header);
  const auto judged = [&](const Words& candidates) {
    return compared(Words{before_, "--candidate"} + candidates + Words{"--fail-on-regression", "10"});
  };
  EXPECT_EQ(judged({same, slow}).exit_code, 4);
  EXPECT_THAT(judged({same, slow}).err, HasSubstr(" 1 row: mine fp16 batch 1 heads 16 N 1024 "));
  EXPECT_EQ(judged({same, broken}).exit_code, 5);
  EXPECT_THAT(judged({broken, wrong}).err, HasSubstr("in the candidate: 3\n"));
  EXPECT_EQ(judged({broken, slow}).exit_code, 4) << "a regression is reported first";
  const Outcome junit = compared({before_, "--candidate", same, slow, "--format", "junit"});
  EXPECT_THAT(junit.out, HasSubstr(", slow\"><failure message=\"SLOWER 2.000"));
}

TEST_F(Compare, points_that_no_longer_run_fail) {
  const fs::path table = folder_ / "crashed.csv";
  std::ofstream(table) << "device,algorithm,N,heads,d,disposition,reason,time_ns\n"
                          "GPU X,mine,512,16,64,crashed,boom,\nGPU X,mine,1024,16,64,ok,,4000\n";
  const std::string after = folder_ / "crashed.attnscope";
  ASSERT_EQ(run(folder_, {"import", table, "-o", after}).exit_code, 0);
  EXPECT_EQ(compared({before_, "--candidate", after}).exit_code, 0);
  const Outcome failed = compared({before_, "--candidate", after, "--fail-on-regression", "5"});
  EXPECT_EQ(failed.exit_code, 5);
  EXPECT_THAT(failed.err, HasSubstr("in the candidate: 1\n"));
  EXPECT_THAT(failed.out, HasSubstr("     1  Candidate  crashed\n"));
  EXPECT_THAT(compared({before_, "--candidate", after, "--format", "junit"}).out,
              AllOf(HasSubstr("failures=\"0\" errors=\"1\" skipped=\"1\""),
                    HasSubstr(" (candidate)\"><error message=\"crashed: boom\"/>")));
  for (const Words& options : {Words(), Words{"--fail-on-regression", "5"}}) {
    const Outcome none = compared(Words{before_.string() + ":N:512", "--candidate", after + ":N:512"} + options);
    EXPECT_EQ(none.exit_code, 5) << "nothing was compared";
    EXPECT_THAT(none.out,
                ::testing::StartsWith("crashed:N:512 against before:N:512: nothing compared; 1 not compared.\n"));
    EXPECT_EQ(std::ranges::count(none.err, '\n'), 1) << none.err;
  }
}

TEST_F(Compare, partial_copy_contributes_its_points_only) {
  const fs::path after = imported("after", "GPU X,mine,512,16,64,1200\nGPU X,mine,1024,16,64,4800\n");
  const fs::path both = folder_ / "both.attnscope";
  ASSERT_EQ(run(folder_, {"merge", before_, after, "-o", both}).exit_code, 0);
  const fs::path part = folder_ / "part.attnscope";
  fs::copy_file(before_, part);
  SQLite::Database(part.string(), SQLite::OPEN_READWRITE).exec("DELETE FROM points WHERE n_q = 1024");
  // The merged file may have its runs in either order.
  Outcome outcome = compared({part, "--candidate", both.string() + ":1"});
  if (outcome.exit_code != 5) outcome = compared({part, "--candidate", both.string() + ":2"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("FASTER 0, SLOWER 1, SAME 0, UNDECIDED 0, not compared 1.\n"));
}

TEST_F(Compare, json_and_csv_contain_values) {
  const fs::path after = imported("after", "GPU X,mine,512,16,64,800\nGPU X,mine,2048,16,64,4010\n");
  const Outcome outcome = compared({before_, after, "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json document = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(document["rows"].size(), 3U);
  const nlohmann::json& row = document["rows"][0];
  EXPECT_EQ(row["baseline_ns"], 1000);
  EXPECT_EQ(row["candidate_ns"], 800);
  EXPECT_NEAR(row["ratio"].get<double>(), 0.8, 1e-12);
  EXPECT_EQ(row["baseline_compared_ns"], 1000);
  EXPECT_EQ(row["candidate_compared_ns"], 800);
  EXPECT_NEAR(row["ratio_high"].get<double>(), 0.84, 1e-9);
  EXPECT_EQ(row["verdict"], "FASTER");
  EXPECT_EQ(row["spread_source"], "assumed");
  EXPECT_EQ(document["rows"][1]["skipped"], "unmatched");
  EXPECT_THAT(compared({before_, after, "--format", "csv"}).out, HasSubstr(",FASTER,"));
}

TEST_F(Compare, escapes_text_of_files) {
  const std::string name = "<script>alert(1)</script>";
  const fs::path one = imported("one", "GPU X," + name + ",512,16,64,1000\nGPU X,=1+2,512,16,64,1000\n");
  const fs::path two = imported("two", "GPU X," + name + ",512,16,64,1000\nGPU X,=1+2,512,16,64,1000\n");
  const Words sides{one, "--candidate", two, "--format"};
  EXPECT_THAT(compared(sides + Words{"junit"}).out, AllOf(HasSubstr("&lt;script&gt;alert"), Not(HasSubstr("<script"))));
  EXPECT_THAT(compared(sides + Words{"csv"}).out, AllOf(HasSubstr(",'=1+2 "), Not(HasSubstr(",=1+2"))));
}

TEST_F(Compare, compares_two_algorithms_of_one_file) {
  const std::string sample = ATTNSCOPE_SAMPLE;
  const Words sides{sample + ":algo:fa1 status:ok", "--candidate", sample + ":algo:fa2 status:ok"};
  const Outcome outcome = compared(sides);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("All rows: fa1 → fa2, "));
  const nlohmann::json document = nlohmann::json::parse(compared(sides + Words{"--format", "json"}).out);
  EXPECT_EQ(document["aligned"], nlohmann::json::array({"problem", "device"}));
  EXPECT_EQ(document["tiles"], "best");
}

TEST_F(Compare, tiles_of_two_gpus) {
  const std::string header = "device,algorithm,N,heads,d,br,bc,time_ns";
  const fs::path before = imported("map",
                                   "GPU X,mine,512,16,64,64,64,1000\nGPU X,mine,512,16,64,128,64,900\n"
                                   "GPU X,mine,512,16,64,128,128,1100\nGPU X,mine,1024,16,64,64,64,4000\n",
                                   header);
  const fs::path after =
      imported("sweep", "GPU Y,mine,512,16,64,64,64,450\nGPU Y,mine,1024,16,64,64,64,8000\n", header);
  const auto document = [&](const Words& words) {
    const Outcome outcome = compared(Words{before, "--candidate", after, "--format", "json"} + words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json best = document({});
  EXPECT_EQ(best["tiles"], "best");
  ASSERT_EQ(best["rows"].size(), 2U);
  const nlohmann::json& row = best["rows"][0];
  EXPECT_NEAR(row["ratio"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(row["differs"], "tile device");
  EXPECT_THAT(row["differences"], HasSubstr("128x64 → 64x64"));
  EXPECT_EQ(row["baseline_tiles"], 3);
  EXPECT_EQ(row["candidate_tiles"], 1);
  EXPECT_EQ(best["answers"][0]["problems"], 2);
  EXPECT_NEAR(best["answers"][0]["mean_ratio"].get<double>(), 1, 1e-12);
  const nlohmann::json equal = document({"--tiles", "equal"});
  EXPECT_NEAR(equal["rows"][0]["ratio"].get<double>(), 0.45, 1e-12);
  EXPECT_EQ(equal["rows"][0]["differs"], "device");
  EXPECT_EQ(equal["rows"].size(), 4U) << "two tiles have no partner";
  EXPECT_THAT(compared({before, "--candidate", after, "--tiles", "automatic", "--csv"}).out,
              HasSubstr(",no-automatic-tile,"));
  EXPECT_EQ(compared({before, "--candidate", after, "--tiles", "any"}).exit_code, 2);
  EXPECT_EQ(compared({before, "--candidate", after, "--tiles", "best", "--align", "tile"}).exit_code, 2);
  const std::string page = folder_ / "page.md";
  EXPECT_EQ(run(folder_, {"report", before, after, "--tiles", "best", "-o", page}).exit_code, 2) << "no --baseline";
  EXPECT_EQ(run(folder_, {"report", after, "--baseline", before, "--tiles", "equal", "-o", page}).exit_code, 0);
}

TEST_F(Compare, names_changed_kernels) {
  const std::string changed = text(msg::compare::changed_kernels{.algorithms = "FA1, FA2, FA3, Naive, Split-KV"});
  EXPECT_THAT(compared({ATTNSCOPE_SECOND_SAMPLE, "--candidate", ATTNSCOPE_SAMPLE}).out,
              HasSubstr('\n' + changed + '\n'));
  const Outcome unknown =
      expect_exit(0, compared({before_, "--candidate", imported("after", "GPU X,mine,512,16,64,900\n")}));
  EXPECT_THAT(unknown.out, Not(HasSubstr("Kernel sources"))) << "imported";
}

/// Returns the words of the first command in a sentence.
Words command_in(const std::string& words) {
  const std::size_t at = words.find("attnscope ");
  if (at == std::string::npos) return {};
  std::istringstream rest(words.substr(at, words.find('\n', at) - at));
  Words command;
  for (std::string word; rest >> word;) command = command + Words{word};
  return command;
}

TEST_F(Compare, suggested_command_runs) {
  const std::string sample = ATTNSCOPE_SAMPLE;
  const Outcome outcome =
      compared({sample + ":algo:fa1 status:ok N:1024", "--candidate", sample + ":algo:fa2 status:ok N:1024", "--margin",
                "40", "--tiles", "equal", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  Words command;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out)["rows"];
  for (const nlohmann::json& row : rows) {
    if (row["verdict"] != "UNDECIDED") continue;
    const std::string words = row["to_decide"].get<std::string>();
    EXPECT_THAT(words, HasSubstr(" --margin 40"));
    if (command.empty()) command = command_in(words);
  }
  ASSERT_FALSE(command.empty());
  command.erase(command.begin());
  const Outcome settled = run(folder_, command + Words{"-d", "simulated", "--timeout", "5"});
  EXPECT_EQ(settled.exit_code, 0) << settled.err;
}

TEST_F(Compare, imported_points_have_no_suggested_command) {
  const fs::path after = imported("after", "GPU X,mine,512,16,64,1010\nGPU X,mine,1024,16,64,4010\n");
  const Outcome outcome = compared({before_, "--candidate", after});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("UNDECIDED 2"), Not(HasSubstr("attnscope collect"))));
}

TEST_F(Compare, several_candidates_are_compared_one_by_one) {
  const fs::path slow = imported("slow", "GPU X,mine,512,16,64,1500\nGPU X,mine,1024,16,64,4010\n");
  const fs::path fast = imported("fast", "GPU X,mine,512,16,64,500\n");
  const auto expect_two = [&](const Words& words) {
    const nlohmann::json document = nlohmann::json::parse(compared(words + Words{"--format", "json"}).out);
    ASSERT_EQ(document["candidates"].size(), 2U);
    std::map<std::string, std::string> verdicts;  // at N 512, by candidate
    for (const nlohmann::json& row : document["rows"]) {
      const bool of_512 = row["baseline_point"].get<std::string>().find(" N 512 ") != std::string::npos;
      if (of_512 && !row["verdict"].is_null()) verdicts[row["candidate"].get<std::string>()] = row["verdict"];
    }
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_EQ(verdicts[document["candidates"][0]["candidate"]], "SLOWER");
    EXPECT_EQ(verdicts[document["candidates"][1]["candidate"]], "FASTER");
    EXPECT_EQ(document["counts"]["SLOWER"], 1);
    EXPECT_EQ(document["counts"]["FASTER"], 1);
  };
  expect_two({before_, "--candidate", slow, fast});
  expect_two({before_, slow, fast});
  const Outcome outcome = compared({before_, "--candidate", slow, fast});
  EXPECT_THAT(outcome.out,
              AllOf(::testing::StartsWith("slow against before: 1 of 2 configurations is SLOWER, by 50% (N 512)."),
                    HasSubstr("\nfast against before: 1 of 1 configurations is FASTER, by 50%."),
                    HasSubstr("FASTER 1, SLOWER 1, SAME 0, UNDECIDED 1"),
                    HasSubstr(" 512    1 µs     1.500 [1.429, 1.575] SLOWER  0.500 [0.476, 0.525] FASTER\n")));
  const nlohmann::json document =
      nlohmann::json::parse(compared({before_, "--candidate", slow, fast, "--format", "json"}).out);
  EXPECT_EQ(document["points"][0]["verdict_1"], "SLOWER");
  EXPECT_NEAR(document["points"][0]["ratio_2"].get<double>(), 0.5, 1e-12);
  EXPECT_TRUE(document["points"][1]["verdict_2"].is_null());
  EXPECT_THAT(document["candidates"][1]["head"], HasSubstr("FASTER, by 50%."));
  EXPECT_EQ(compared({before_, "--candidate", fast, slow, "--fail-on-regression", "10"}).exit_code, 4);
  const fs::path all = folder_ / "all.attnscope";
  ASSERT_EQ(run(folder_, {"merge", before_, slow, fast, "-o", all}).exit_code, 0);
  const nlohmann::json of_file = nlohmann::json::parse(compared({all, "--format", "json"}).out);
  EXPECT_EQ(of_file["candidates"].size(), 2U);
  expect_refusal({all, "--candidate", slow}, 2, "FILE:RUN");
}

TEST_F(Compare, only_repeated_recordings_are_pooled) {
  const auto recorded = [&](const std::string& name, const Words& options = {}) {
    const std::string file = folder_ / (name + ".attnscope");
    EXPECT_EQ(run(folder_, Words{"collect", "-d", "simulated", "-a", "algorithm=fa2", "-a", "N=256", "-a", "d=64", "-a",
                                 "heads=1", "-o", file} +
                               options)
                  .exit_code,
              0);
    return file;
  };
  const std::string one = recorded("one");
  const std::string two = recorded("two");
  const std::string three = recorded("three");
  const std::string other = recorded("other", {"--min-samples", "5"});
  const auto document = [&](const Words& words) {
    return nlohmann::json::parse(compared(words + Words{"--format", "json"}).out);
  };
  const nlohmann::json pooled = document({one, "--candidate", two, three});
  EXPECT_FALSE(pooled.contains("candidates"));
  EXPECT_EQ(pooled["candidate"], text(msg::compare::pooled{.name = "two, three", .recordings = 2}));
  EXPECT_EQ(pooled["rows"][0]["recordings"], 3);
  EXPECT_EQ(document({one, two, "--candidate", three})["baseline"],
            text(msg::compare::pooled{.name = "one, two", .recordings = 2}));
  EXPECT_EQ(document({one, "--candidate", two, other})["candidates"].size(), 2U);
  expect_refusal({one, other, "--candidate", two}, 2, "options");
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
// Kernels of the fake GPU take 10 us +- 10 ns.
TEST_F(Compare, planted_changes_are_found) {
  Process::Options options = on_fake_gpu();
  options.program = ATTNSCOPE_PLANT_CHANGES;
  const std::string planted = folder_ / "planted.attnscope";
  const Outcome recorded =
      run(folder_, {planted, "gpu", "5", "2", "5", "algorithm=naive", "N=[128,256]", "d=64", "heads=1"}, options);
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const Words sides{planted + ":1", "--candidate", planted + ":2"};
  const Outcome outcome = compared(sides + Words{"--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out)["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0]["ratio"].get<double>(), 1.05, 2e-3);
  EXPECT_EQ(rows[0]["verdict"], "SLOWER");
  EXPECT_EQ(rows[0]["interleaved"], "yes");
  EXPECT_NEAR(rows[1]["ratio"].get<double>(), 1, 2e-3);
  EXPECT_EQ(rows[1]["verdict"], "SAME");
  EXPECT_EQ(compared(sides + Words{"--fail-on-regression", "1"}).exit_code, 4);
}
#endif

TEST_F(Compare, rejects_incomparable_sides) {
  const std::string file = before_;
  expect_refusal({file, "--candidate", file}, 2, "--candidate");
  expect_refusal({file}, 2, "one run");
  expect_refusal({file + ":9", "--candidate", file}, 1, "has no run 9");
  expect_refusal({file + ":algo:theirs", "--candidate", file}, 1, "theirs");
  expect_refusal({file + ":colour:red", "--candidate", file}, 2, "colour");
  expect_refusal({file, "--candidate", file + "x"}, 1, "does not exist");
  expect_refusal({file + ":1", "--candidate", file + ":N:512", "--align", "colour"}, 2, "'colour'");
  expect_refusal({file, "--candidate", imported("else", "GPU X,mine,64,16,64,1000\n")}, 1, "--align");
  EXPECT_EQ(compared({file, "--candidate", file, "--margin", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace attnscope::testing
