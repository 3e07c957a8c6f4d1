// SPDX-License-Identifier: Apache-2.0
// `attnscope ab` on a simulated device and on the fake GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fake_driver.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Ab : public CommandTest {
 protected:
  Outcome ab(const Words& words, const Process::Options& options = {}) {
    return run(folder_, Words{"ab"} + words, options);
  }

  [[nodiscard]] std::string in_folder(const std::string& name) const { return folder_ / name; }

  /// Compares a file written by ab; returns its only row.
  nlohmann::json compared(const std::string& side) {
    const Outcome outcome = expect_exit(0, run(folder_, {"compare", in_folder(side), "--format", "json"}));
    const nlohmann::json document = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(document["rows"].size(), 1U) << outcome.out;
    return document["rows"].at(0);
  }

  void expect_open_error(const Words& words, int code, const std::string& says) {
    const Outcome outcome = expect_error(code, ab(words));
    EXPECT_THAT(outcome.err, HasSubstr(says));
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_F(Ab, simulates_one_round) {
  const Words words{"N=1024",     "d=64",          "heads=8",     "-d",           "simulated",
                    "--baseline", "algorithm=fa1", "--candidate", "algorithm=fa2"};
  EXPECT_THAT(expect_exit(0, ab(words)).out, AllOf(HasSubstr("Simulated"), HasSubstr("FASTER 1,"), HasSubstr("fa2")));
  const nlohmann::json row = nlohmann::json::parse(ab(words + Words{"--json"}).out)["rows"].at(0);
  EXPECT_EQ(row["verdict"], "FASTER");
  EXPECT_EQ(row["rounds"], 1);
  EXPECT_NEAR(row["ratio"].get<double>(), row["candidate_ns"].get<double>() / row["baseline_ns"].get<double>(), 1e-12);
}

TEST_F(Ab, axes_of_a_side_take_precedence) {
  const Outcome outcome = expect_exit(0, ab({"N=1024", "d=64", "algorithm=fa2", "-d", "simulated", "--baseline",
                                             "dtype=fp16", "--candidate", "dtype=bf16", "algorithm=fa1"}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("fa1"), HasSubstr("bf16"), HasSubstr("fa2"), HasSubstr("fp16")));
}

TEST_F(Ab, stored_rounds_give_equal_verdicts) {
  const Words words{"N=1024",
                    "d=64",
                    "algorithm=fa2",
                    "-d",
                    "simulated",
                    "--baseline",
                    "dtype=fp16",
                    "tile=64x64",
                    "--candidate",
                    "dtype=bf16",
                    "tile=128x64",
                    "-o",
                    in_folder("kept.attnscope"),
                    "--json"};
  const nlohmann::json first = nlohmann::json::parse(ab(words).out)["rows"].at(0);
  const nlohmann::json row = compared("kept.attnscope");
  EXPECT_EQ(row, first);
  EXPECT_THAT(row["baseline_point"], HasSubstr("fp16"));
  EXPECT_THAT(row["candidate_point"], HasSubstr("bf16"));
  // A second invocation adds a run to the same file.
  const Outcome again = expect_exit(0, ab({"N=512", "d=64", "-d", "simulated", "--baseline", "algorithm=fa1",
                                           "--candidate", "algorithm=fa2", "-o", in_folder("kept.attnscope")}));
  EXPECT_THAT(again.out, AllOf(HasSubstr("run 2 "), HasSubstr("kept.attnscope:2")));
  EXPECT_THAT(compared("kept.attnscope:2")["baseline_point"], HasSubstr("fa1"));
  EXPECT_EQ(compared("kept.attnscope:1"), first);
}

TEST_F(Ab, stores_failed_points) {
  expect_open_error({"N=1024", "d=64", "algorithm=fa2", "-d", "simulated:A100", "--baseline", "tile=64x64",
                     "--candidate", "tile=16x1024", "-o", in_folder("failed.attnscope")},
                    1, "infeasible");
  const Outcome points = run(folder_, {"export", in_folder("failed.attnscope"), "--format", "csv"});
  EXPECT_THAT(points.out, HasSubstr("infeasible"));
  EXPECT_THAT(expect_exit(1, run(folder_, {"compare", in_folder("failed.attnscope")})).err,
              HasSubstr("failed.attnscope"));
  std::ofstream(folder_ / "notes.txt") << "not a database\n";
  expect_open_error({"N=1024", "d=64", "-d", "simulated", "--baseline", "algorithm=fa1", "--candidate", "algorithm=fa2",
                     "-o", in_folder("notes.txt")},
                    2, "notes.txt");
  expect_open_error({"N=1024", "d=64", "-d", "simulated", "--baseline", "algorithm=fa1", "--candidate", "algorithm=fa2",
                     "-o", in_folder("no/such/folder.attnscope")},
                    1, "folder");
}

TEST_F(Ab, rejects_invalid_sides) {
  const Words simulated{"N=1024", "d=64", "algorithm=fa2", "-d", "simulated:A100"};
  expect_open_error(simulated + Words{"--baseline", "tile=64x64", "--candidate", "tile=64x64"}, 2, "fa2 ");
  expect_open_error(simulated + Words{"--baseline", "tile=[64x64,128x64]", "--candidate", "tile=64x64"}, 2,
                    "one value");
  expect_open_error(simulated + Words{"--baseline", "colour=red", "--candidate", "tile=64x64"}, 2, "colour");
  expect_open_error(simulated + Words{"--baseline", "tile=64x64", "--candidate", "tile=16x1024"}, 1, "infeasible");
}

// Two builds of the program measure the same points.
TEST_F(Ab, compares_two_programs) {
  const Words words{"--baseline-program",
                    ATTNSCOPE_PROGRAM,
                    "algorithm=[fa1,fa2]",
                    "N=[256,512]",
                    "d=64",
                    "heads=4",
                    "-d",
                    "simulated",
                    "-o",
                    in_folder("programs.attnscope")};
  EXPECT_THAT(expect_exit(0, ab(words)).out,
              AllOf(HasSubstr("FASTER 0, SLOWER 0, SAME 4"), HasSubstr("Baseline 0."), HasSubstr("Simulated")));
  const Outcome again =
      run(folder_, {"compare", in_folder("programs.attnscope:1"), "--candidate", in_folder("programs.attnscope:2")});
  EXPECT_THAT(again.out, HasSubstr("FASTER 0, SLOWER 0, SAME 4"));
}

/// Returns a program that reports another version.
std::string other_version(const std::filesystem::path& folder) {
  const std::filesystem::path script = folder / "older";
  std::ofstream(script) << "#!/bin/sh\n" ATTNSCOPE_PROGRAM
                           " \"$@\" | sed -u 's/\"app_version\":\"[^\"]*\"/\"app_version\":\"0.0.9\"/g'\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST_F(Ab, records_versions_of_programs) {
  const Outcome outcome = expect_exit(0, ab({"--baseline-program", other_version(folder_.path()), "algorithm=fa2",
                                             "N=256", "d=64", "-d", "simulated", "-o", in_folder("older.attnscope")}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("0.0.9 ("), HasSubstr("1 SAME")));
  EXPECT_THAT(run(folder_, {"info", in_folder("older.attnscope"), "--csv"}).out, HasSubstr("0.0.9 ("));
}

TEST_F(Ab, rejects_invalid_programs) {
  const Words words{"algorithm=fa2", "N=256", "d=64", "-d", "simulated"};
  expect_open_error(words, 2, "--baseline-program");
  expect_open_error(words + Words{"--baseline-program", ATTNSCOPE_PROGRAM}, 2, "-o FILE");
  expect_open_error(words + Words{"--baseline-program", "/bin/true", "-o", in_folder("t.attnscope")}, 1,
                    "/bin/true does not answer");
  expect_open_error(words + Words{"--baseline-program", in_folder("none"), "-o", in_folder("t.attnscope")}, 1, "none");
  expect_open_error(words + Words{"--baseline-program", ATTNSCOPE_PROGRAM, "--baseline", "tile=64x64"}, 2,
                    "--baseline");
  expect_open_error(words + Words{"--baseline-program", ATTNSCOPE_PROGRAM, "--candidate", "tile=64x64"}, 2,
                    "--candidate");
  expect_open_error(
      words + Words{"--baseline-program", ATTNSCOPE_PROGRAM, "--rounds", "4", "-o", in_folder("t.attnscope")}, 2,
      "--rounds must be at least 5");
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
TEST_F(Ab, restarts_programs_every_round) {
  const Outcome outcome =
      expect_exit(0, ab({"--baseline-program", ATTNSCOPE_PROGRAM, "algorithm=naive", "N=[64,128]", "d=64", "heads=1",
                         "--rounds", "5", "--samples", "3", "--no-verify", "--json", "-o", in_folder("kept.attnscope")},
                        on_fake_gpu()));
  const nlohmann::json document = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(document["rows"].size(), 2U);
  for (const nlohmann::json& row : document["rows"]) {
    EXPECT_EQ(row["rounds"], 5);
    EXPECT_EQ(row["interleaved"], "yes");
  }
  EXPECT_EQ(run(folder_, {"compare", in_folder("kept.attnscope:1"), "--candidate", in_folder("kept.attnscope:2"),
                          "--format", "json"})
                .out,
            outcome.out)
      << "stored rounds give the same verdict";
}

TEST_F(Ab, stops_at_an_interim_analysis) {
  const Process::Options options = on_fake_gpu();
  const Words words{"algorithm=naive", "N=128",     "d=64",   "heads=1",     "--rounds",   "7",
                    "--samples",       "3",         "--json", "--no-verify", "--baseline", "tile=32x32",
                    "--candidate",     "tile=64x64"};
  const Outcome outcome = expect_exit(0, ab(words, options));
  const nlohmann::json first = nlohmann::json::parse(outcome.out)["rows"].at(0);
  const std::size_t rounds = first["rounds"];
  EXPECT_TRUE(rounds == 5 || rounds == 7) << rounds;
  EXPECT_LE(first["ratio_low"], first["ratio"]);
  EXPECT_GE(first["ratio_high"], first["ratio"]);
  if (first["verdict"] == "UNDECIDED") {
    EXPECT_EQ(rounds, 7U);
  }

  const Outcome again = ab(words + Words{"-o", in_folder("kept.attnscope")}, options);
  const nlohmann::json kept = nlohmann::json::parse(again.out)["rows"].at(0);
  const nlohmann::json row = compared("kept.attnscope");
  EXPECT_EQ(row, kept);
  EXPECT_EQ(row["interleaved"], "yes");
  const Outcome notes = run(folder_, {"compare", in_folder("kept.attnscope")});
  EXPECT_THAT(notes.out, HasSubstr(" 3 "));
  const std::string run_rounds = std::to_string(kept["rounds"].get<std::size_t>()) + " rounds";
  EXPECT_THAT(run(folder_, {"info", in_folder("kept.attnscope")}).out, HasSubstr("; " + run_rounds));
  ab(words + Words{"--timeout", "0.001", "-o", in_folder("short.attnscope")}, options);
  EXPECT_THAT(run(folder_, {"info", in_folder("short.attnscope")}).out,
              AllOf(HasSubstr("naive"), Not(HasSubstr("rounds"))))
      << "one of 7 was run";
}
#endif

}  // namespace
}  // namespace attnscope::testing
