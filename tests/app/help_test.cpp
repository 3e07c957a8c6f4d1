// SPDX-License-Identifier: Apache-2.0
// Help of every command: summary, two examples that work as typed, exit codes. Common mistakes and their remedies.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "help_examples.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using HelpTest = CommandTest;

/// All commands, each after its parent; the first is the program itself.
std::vector<Words> all_commands(const TemporaryFolder& folder, const Words& path = {}) {
  std::vector<Words> all{path};
  const std::string help = run(folder, path + Words{"--help"}).out;
  const std::size_t begin = help.find("\nSubcommands:\n");
  if (begin == std::string::npos) return all;
  std::istringstream lines(help.substr(begin + 1));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] == ' ') continue;
    for (Words& below : all_commands(folder, path + Words{line.substr(2, line.find(' ', 2) - 2)}))
      all.push_back(std::move(below));
  }
  return all;
}

/// Runs a shell command in `folder`, with the program under test in PATH.
Outcome run_in_shell(const TemporaryFolder& folder, const std::string& command) {
  const std::string programs = std::filesystem::path(ATTNSCOPE_PROGRAM).parent_path().string();
  return run(folder, {"-c", fmt::format("cd '{}' && PATH='{}':$PATH && {}", folder.path().string(), programs, command)},
             {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}, .program = "/bin/sh"});
}

TEST_F(HelpTest, BeginsWithASentenceAndTwoExamples) {
  for (const Words& command : all_commands(folder_)) {
    const Outcome outcome = expect_exit(0, run(folder_, command + Words{"--help"}));
    const std::string& help = outcome.out;
    const std::string summary = help.substr(0, help.find('\n'));
    EXPECT_TRUE(summary.ends_with(".") && summary.size() <= 90) << outcome.command << ": " << summary;
    EXPECT_EQ(distinct_rows(help).size(), 2U) << outcome.command;
    EXPECT_LT(help.find("\nExamples:\n"), help.find("\nUsage: ")) << outcome.command;
    for (const char* code : {"\n  0  ", "\n  1  ", "\n  2  ", "\n  3  ", "\n  4  ", "\n  5  "})
      EXPECT_THAT(help, HasSubstr(code)) << outcome.command;
    EXPECT_THAT(help, AllOf(Not(HasSubstr("Excludes:")), Not(HasSubstr("Needs:")))) << outcome.command;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << outcome.command << ": " << line;
  }
}

/// Examples that need a GPU, a cluster or files that no other example writes are parsed only.
TEST_F(HelpTest, ExamplesWorkAsTyped) {
  const std::set<std::string> runnable{"collect", "model", "export", "paper", "law",  "lesson",
                                       "report",  "info",  "edit",   "check", "help", "kernels"};
  for (const Words& command : all_commands(folder_)) {
    if (command.empty() || command == Words{"kernels", "build"}) continue;
    for (const std::string& example : distinct_rows(run(folder_, command + Words{"--help"}).out)) {
      const std::size_t program = example.find("attnscope ");
      ASSERT_NE(program, std::string::npos) << example;
      const Outcome outcome = run_in_shell(folder_, example.substr(program));
      EXPECT_THAT(outcome.err, Not(HasSubstr("--help`)"))) << example;
      if (runnable.contains(command.front())) {
        EXPECT_EQ(outcome.exit_code, 0) << example << '\n' << outcome.err;
      }
    }
  }
}

struct CommonMistake {
  Words arguments;
  int exit_code;
  std::string mistake;              ///< the wrong argument, as typed
  std::vector<std::string> remedy;  ///< parts of the suggestion
};

std::ostream& operator<<(std::ostream& out, const CommonMistake& mistake) {
  for (const std::string& argument : mistake.arguments) out << argument << ' ';
  return out;
}

class CommonMistakes : public ::testing::TestWithParam<CommonMistake> {};

TEST_P(CommonMistakes, AreNamedWithARemedyInOneLine) {
  const TemporaryFolder folder;
  std::ofstream(folder / "notes.txt") << "not a database\n";
  Words arguments = GetParam().arguments;
  for (std::string& each : arguments) {
    if (const std::size_t at = each.find('@'); at != std::string::npos) each.replace(at, 1, folder.path().string());
  }
  const Outcome outcome =
      expect_error(GetParam().exit_code, run(folder, arguments, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}}));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(::testing::StartsWith("error: "), HasSubstr(GetParam().mistake)));
  for (const std::string& part : GetParam().remedy) EXPECT_THAT(outcome.err, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, CommonMistakes,
    ::testing::Values(
        CommonMistake{{"colect"}, 2, "'colect'", {"collect?", "attnscope --help"}},
        CommonMistake{
            {"compare", "a", "--fail-on-regresion", "5"}, 2, "'--fail-on-regresion'", {"--fail-on-regression?"}},
        CommonMistake{{"collect", "--device"}, 2, "--device", {"value", "attnscope collect --help"}},
        CommonMistake{{"merge", "a.attnscope"}, 2, "--output", {"attnscope merge --help"}},
        CommonMistake{{"info", "@/missing.attnscope"}, 1, "missing.attnscope", {"does not exist"}},
        CommonMistake{{"verify", "--algorithms", "fa9"}, 2, "'fa9'", {"naive", "fa1", "fa2", "fa3"}},
        CommonMistake{{"model", "-a", "Nk=12"}, 2, "'Nk'", {"N"}},
        CommonMistake{{"model", "-a", "dtype=fp4"}, 2, "fp4", {"fp16", "bf16"}},
        CommonMistake{{"model", "--preset", "qick"}, 2, "'qick'", {"quick?"}},
        CommonMistake{{"model", "--gpu", "H20", "-a", "N=64"}, 2, "'H20'", {"H200?"}},
        CommonMistake{{"info", ATTNSCOPE_SAMPLE, "--filter", "algoo:fa2"}, 2, "algoo", {"algo"}},
        CommonMistake{{"info", ATTNSCOPE_SAMPLE, "--format", "jsn"}, 2, "'jsn'", {"--format", "json?"}},
        CommonMistake{{"info", ATTNSCOPE_SAMPLE, "-o", "@/x.html"}, 2, "x.html", {"text, csv, json"}},
        CommonMistake{{"collect", "--device", "simulated", "-q", "-o", "@/x.csv"}, 2, "x.csv", {".attnscope", "-o"}},
        CommonMistake{{"collect", "--device", "simulated", "-q", "-o", "@/no/such/a.attnscope"}, 1, "no/such", {"-o"}},
        CommonMistake{{"launch", "algorithm=fa2", "N=64", "--device", "simulated"}, 2, "simulated", {"--device"}},
        CommonMistake{{"collect", "--device", "gpu", "-q", "-o", "@/a.attnscope"}, 1, "--device gpu", {}},
        CommonMistake{{"report", ATTNSCOPE_SAMPLE, "-o", "@/report.pdf"}, 2, "report.pdf", {".html", ".md"}}));

TEST_F(HelpTest, TheSuffixSelectsTheFormat) {
  const auto written = [&](const std::string& name, const Words& more = {}) {
    expect_exit(0, run(folder_, Words{"kernels", "-o", folder_ / name} + more));
    std::ifstream in(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_THAT(written("a.json"), ::testing::StartsWith("{"));
  EXPECT_THAT(written("a.csv"), ::testing::StartsWith("algorithm,"));
  EXPECT_EQ(written("a.txt"), run(folder_, {"kernels"}).out);
  EXPECT_EQ(written("b"), run(folder_, {"kernels"}).out);
  EXPECT_THAT(written("b.dat", {"--csv"}), ::testing::StartsWith("algorithm,"));
  for (const Words& wrong : {Words{"-o", folder_ / "c.html"}, Words{"--csv", "-o", folder_ / "c.json"},
                             Words{"-o", folder_ / "c.dat"}, Words{"-o", folder_ / "c.attnscope"}})
    expect_error(2, run(folder_, Words{"kernels"} + wrong));
  for (const char* name : {"c.html", "c.json", "c.dat", "c.attnscope"})
    EXPECT_FALSE(std::filesystem::exists(folder_ / name)) << name;
}

}  // namespace
}  // namespace attnscope::testing
