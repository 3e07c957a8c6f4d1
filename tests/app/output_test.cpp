// SPDX-License-Identifier: Apache-2.0
// Output format and destination (--format, --csv, --json, -o) and --filter in all commands that print a result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ExitCodes = CommandTest;

class Results : public CommandTest {
 protected:
  static void SetUpTestSuite() {
    kept() = std::make_unique<TemporaryFolder>();
    for (const char* name : {"a", "b"}) {
      expect_exit(0, run(*kept(), Words{"collect", "--preset", "paper", "--algorithms", "naive,fa1,fa2", "--device",
                                        "simulated", "-a", "N=[256,512]", "-a", "d=[64,128]", "-q", "-o", file(name)}));
    }
  }
  static void TearDownTestSuite() { kept().reset(); }

  static std::unique_ptr<TemporaryFolder>& kept() {
    static std::unique_ptr<TemporaryFolder> folder;
    return folder;
  }
  static std::string file(const std::string& name = "a") { return *kept() / (name + ".attnscope"); }
  Outcome asked(const Words& words) const { return run(folder_, words); }
  json rows(const Words& words) const {
    const Outcome outcome = expect_exit(0, asked(words + Words{"--json"}));
    return json::parse(outcome.out).at("rows");
  }
};

TEST_F(Results, EveryJsonDocumentHasAFormat) {
  const std::vector<std::pair<Words, std::string>> all{
      {{"doctor"}, "attnscope-doctor"},
      {{"model", "-a", "N=64", "--algorithms", "fa2"}, "attnscope-model"},
      {{"ceilings", "--device", "simulated"}, "attnscope-ceilings"},
      {{"ceilings", file()}, "attnscope-ceilings"},
      {{"kernels"}, "attnscope-kernels"},
      {{"info", file()}, "attnscope-info"},
      {{"check", file()}, "attnscope-check"},
      {{"paper", ATTNSCOPE_SAMPLE}, "attnscope-paper"},
      {{"law", ATTNSCOPE_SAMPLE}, "attnscope-law"},
      {{"model", "--against", ATTNSCOPE_SAMPLE, "--filter", "algo:fa2 d:64 N:1024 pass:fwd"},
       "attnscope-model-against"},
      {{"collect", "--dry-run", "--device", "simulated", "-a", "N=64"}, "attnscope-plan"}};
  for (const auto& [words, format] : all) {
    const Outcome outcome = expect_exit(0, asked(words + Words{"--format", "json"}));
    const json document = json::parse(outcome.out);
    EXPECT_EQ(document["format"], format);
    EXPECT_EQ(document["version"], 2) << format;
    ASSERT_TRUE(document["rows"].is_array()) << format;
    EXPECT_FALSE(document["rows"].empty()) << format;
  }
  const json compared = json::parse(asked({"compare", file(), "--candidate", file("b"), "--json"}).out);
  EXPECT_EQ(compared["format"], "attnscope-comparison");
  EXPECT_EQ(compared["version"], 2);
  const json both = json::parse(asked({"ab", "--device", "simulated", "--json", "N=64", "--baseline", "algorithm=fa1",
                                       "--candidate", "algorithm=fa2"})
                                    .out);
  EXPECT_EQ(both["format"], "attnscope-comparison");
  EXPECT_EQ(both["version"], 2);
}

TEST_F(Results, FileEqualsStdout) {
  for (const Words& words : {Words{"info", file()}, Words{"paper", file()}, Words{"kernels"}, Words{"check", file()},
                             Words{"compare", file(), "--candidate", file("b")}, Words{"ceilings", file()},
                             Words{"model", "-a", "N=64"}, Words{"law", ATTNSCOPE_SAMPLE}}) {
    for (const char* format : {"text", "csv", "json"}) {
      const Words asked_for = words + Words{"--format", format};
      const Outcome shown = expect_exit(0, asked(asked_for));
      const std::string target = folder_ / (words[0] + "." + format);
      const Outcome kept = expect_exit(0, asked(asked_for + Words{"-o", target}));
      EXPECT_EQ(kept.out, "") << words[0];
      EXPECT_EQ(content(target), shown.out) << words[0] << ' ' << format;
    }
  }
}

TEST_F(Results, KeepsFilesOfOtherKinds) {
  const std::string before = content(file());
  EXPECT_THAT(expect_exit(2, asked({"info", file(), "--force", "-o", file("b")})).err,
              HasSubstr("contains measurements"));
  std::filesystem::copy_file(file(), folder_ / "hidden.csv");
  EXPECT_EQ(asked({"info", file(), "--csv", "--force", "-o", folder_ / "hidden.csv"}).exit_code, 2);
  EXPECT_EQ(content(folder_ / "hidden.csv"), before);
  EXPECT_EQ(asked({"doctor", "-o", folder_ / "noise.attnscope"}).exit_code, 2) << "--noise was forgotten";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "noise.attnscope"));
  std::ofstream(folder_ / "notes.json") << "of mine";
  EXPECT_EQ(asked({"info", file(), "--json", "-o", folder_ / "notes.json"}).exit_code, 1);
  EXPECT_EQ(content(folder_ / "notes.json"), "of mine");
  EXPECT_EQ(asked({"info", file(), "--json", "--force", "-o", folder_ / "notes.json"}).exit_code, 0);
  const std::string good = content(folder_ / "notes.json");
  EXPECT_EQ(json::parse(good)["format"], "attnscope-info");
  // A command that fails before printing does not write the file.
  EXPECT_EQ(asked({"info", file("missing"), "--json", "-o", folder_ / "notes.json"}).exit_code, 1);
  EXPECT_EQ(content(folder_ / "notes.json"), good);
}

TEST_F(Results, CheckPrintsOneRowPerFile) {
  std::ofstream(folder_ / "notes.attnscope") << "not a database, by far\n";
  const Outcome outcome =
      expect_exit(1, asked({"check", folder_ / "notes.attnscope", file(), folder_ / "missing.attnscope", "--json"}));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("missing.attnscope"), Not(HasSubstr("notes"))));
  const json states = json::parse(outcome.out).at("rows");
  EXPECT_EQ(states[0]["state"], "damaged");
  EXPECT_EQ(states[1]["state"], "ok");
  EXPECT_EQ(states[2]["state"], "unreadable");
  const std::string damaged = folder_ / "notes.attnscope";
  const std::string missing = folder_ / "missing.attnscope";
  for (const auto& [files, code] : {std::pair(Words{file(), damaged}, 5),
                                    {Words{damaged, file()}, 5},
                                    {Words{missing, damaged}, 1},
                                    {Words{damaged, missing, file()}, 1},
                                    {Words{file(), file("b")}, 0}}) {
    expect_exit(code, asked(Words{"check"} + files));
  }
}

TEST_F(Results, FilterSelectsPoints) {
  const json all = rows({"info", file()});
  EXPECT_THAT(std::string(all[0]["contents"]), HasSubstr("d 64, 128; N 256 to 512; fa1, fa2, naive"));
  const json some = rows({"info", file(), "--filter", "d:64 -naive N:512"});
  EXPECT_THAT(std::string(some[0]["contents"]), HasSubstr("d 64; N 512; fa1, fa2"));

  // Every preset as `info` prints it, also of imported runs.
  std::map<std::string, double> points_of;
  for (const json& run : rows({"info", ATTNSCOPE_SAMPLE}))
    points_of[run["preset"].get<std::string>()] += run["points"].get<double>();
  EXPECT_EQ(points_of.count("import:PyTorch wall"), 1U);
  for (const auto& [preset, points] : points_of) {
    double selected = 0;
    for (const json& run : rows({"info", ATTNSCOPE_SAMPLE, "--filter", "preset:\"" + preset + "\""}))
      selected += run["points"].get<double>();
    EXPECT_EQ(selected, points) << preset;
  }
  for (const char* command : {"info", "export", "report", "compare", "law"})
    EXPECT_THAT(asked({command, "--help"}).out, AllOf(HasSubstr("preset"), HasSubstr("reason"), HasSubstr("tile")));

  json of_fa2 = json::array();
  for (const json& row : rows({"law", ATTNSCOPE_SAMPLE})) {
    if (row["algorithm"] == "fa2") of_fa2.push_back(row);
  }
  ASSERT_FALSE(of_fa2.empty());
  EXPECT_EQ(rows({"law", ATTNSCOPE_SAMPLE, "--filter", "algo:fa2"}), of_fa2);

  EXPECT_EQ(rows({"compare", file(), "--candidate", file("b"), "--filter", "d:128"}).size(),
            rows({"compare", file() + ":d:128", "--candidate", file("b") + ":d:128"}).size());
  EXPECT_LT(rows({"compare", file(), "--candidate", file("b"), "--filter", "d:128"}).size(),
            rows({"compare", file(), "--candidate", file("b")}).size());

  const json errors = rows({"model", "--against", ATTNSCOPE_SAMPLE, "--filter", "algo:fa2 d:64 N:1024 pass:fwd"});
  EXPECT_TRUE(std::ranges::all_of(errors, [](const json& row) { return row["algorithm"] != "naive"; }));
  EXPECT_TRUE(std::ranges::any_of(errors, [](const json& row) { return row["algorithm"] == "fa2"; }));
}

TEST_F(Results, FilterWithoutMatchIsAnError) {
  for (const Words& words :
       {Words{"info", file()}, Words{"law", file()}, Words{"paper", file()}, Words{"export", file()},
        Words{"compare", file(), "--candidate", file("b")}, Words{"model", "--against", ATTNSCOPE_SAMPLE},
        Words{"lesson", "export", file(), "-o", folder_ / "page"}, Words{"report", file(), "-o", folder_ / "r.html"}}) {
    const Outcome outcome = expect_exit(1, asked(words + Words{"--filter", "N>1e9"}));
    EXPECT_EQ(outcome.out, "") << words[0];
    EXPECT_THAT(outcome.err, HasSubstr("'N>1e9'"));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(asked(words + Words{"--filter", "nothing>"}).exit_code, 2) << words[0];
  }
}

// Two runs of one preset, the second of which began in the same second.
TEST_F(Results, PaperUsesTheNewestCompleteRun) {
  const std::string both = folder_ / "both.attnscope";
  std::filesystem::copy_file(file(), both);
  const auto answer = [&] { return asked({"paper", both}).out; };
  EXPECT_THAT(answer(), HasSubstr("; run 1 "));
  {
    RunStore store = RunStore::open(both, RunStore::Mode::collect);
    RunHeader header;
    header.device.uuid = "GPU-1";
    header.device.limits = *find_gpu("H200");
    header.preset = "paper";
    const std::vector<PointRecord> points{store.points().front().record};
    store.add_complete_runs(std::vector<CompleteRun>{{header, points}, {header, points}});
    (void)store.begin_run(header);
  }
  EXPECT_THAT(answer(), HasSubstr("; run 3 ")) << "run 4 is not complete";
}

/// Returns all commands below `path`, from --help.
std::vector<Words> commands_below(const TemporaryFolder& folder, const Words& path = {}) {
  std::istringstream help(run(folder, path + Words{"--help"}).out);
  std::vector<Words> all;
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Subcommands:") {
      listed = true;
    } else if (line.empty()) {
      listed = false;
    } else if (listed && line.size() > 2 && line[2] != ' ') {
      std::istringstream words(line);
      std::string name;
      words >> name;
      all.push_back(path + Words{name});
      for (Words& below : commands_below(folder, all.back())) all.push_back(std::move(below));
    }
  }
  return all;
}

TEST_F(ExitCodes, UnknownArgumentsAreUsageErrors) {
  const std::vector<Words> commands = commands_below(folder_);
  EXPECT_GT(commands.size(), 24U);
  for (const Words& command : commands) {
    for (const Words& wrong : {Words{"--nonsense"}, Words{"--nonsense", "--help"}, Words{"--version", "--nonsense"}}) {
      const Outcome outcome = expect_error(2, run(folder_, command + wrong));
      EXPECT_EQ(outcome.out, "");
    }
    EXPECT_EQ(run(folder_, command + Words{"--help"}).exit_code, 0) << ::testing::PrintToString(command);
  }
  for (const Words& wrong :
       {Words{"compar", "--help"}, Words{"compar", "--version"}, Words{"kernels", "buil", "--help"}}) {
    const Outcome outcome = expect_exit(2, run(folder_, wrong));
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(wrong[wrong.size() - 2]));
  }
}

TEST_F(ExitCodes, MissingFilesAreRuntimeErrors) {
  const std::string out = folder_ / "out.attnscope";
  const auto of_place = [&](const std::string& place) {
    return std::vector<Words>{{"check", place},
                              {"check", ATTNSCOPE_SAMPLE, place},
                              {"info", place},
                              {"export", place},
                              {"export", place, "--format", "attnscope", "-o", out},
                              {"import", place, "-o", out},
                              {"paper", place},
                              {"law", place},
                              {"lesson", "export", place, "-o", out},
                              {"lesson", "export", ATTNSCOPE_SAMPLE, "-o", out, "--texts", place + "x"},
                              {"compare", place, "--candidate", ATTNSCOPE_SAMPLE},
                              {"compare", ATTNSCOPE_SAMPLE, "--noise", place},
                              {"report", place, "-o", folder_ / "r.html"},
                              {"merge", place, "-o", out},
                              {"ceilings", place},
                              {"model", "--against", place},
                              {"model", "-a", "N=64", "--ceilings", place},
                              {"collect", "--device", "simulated", "-q", "--ceilings", place, "-o", out}};
  };
  std::vector<Words> all = of_place(folder_ / "missing.attnscope");
  std::filesystem::create_directory(folder_ / "folder");
  for (Words& words : of_place(folder_ / "folder")) all.push_back(std::move(words));
  const std::string missing = folder_ / "missing";
  for (const Words& words : {Words{"kernels", "build", "--kernel", missing}, Words{"collect", "--kernel", missing},
                             Words{"ab", "N=64", "--baseline", "kernel=" + missing, "--candidate", "kernel=x"},
                             Words{"ab", "--baseline-program", missing, "N=64", "-o", out}}) {
    all.push_back(words);
  }
  for (const Words& words : all) {
    EXPECT_THAT(expect_error(1, run(folder_, words)).err, StartsWith("error: "));
  }
}

}  // namespace
}  // namespace attnscope::testing
