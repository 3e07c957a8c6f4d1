// SPDX-License-Identifier: Apache-2.0
// Manual pages and completions, which the program makes of its own commands: the bash one is run, and each is looked at
// by its own shell or reader where that is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "subprocess.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

Outcome in_bash(const TemporaryFolder& folder, const std::string& script) {
  return run(folder, {"-c", script}, {.program = "/bin/bash"});
}

bool installed(const TemporaryFolder& folder, const std::string& program) {
  return in_bash(folder, "command -v " + program).exit_code == 0;
}

class ShellFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome written = run(folder_, {"help", "--write-shell-files", folder_ / "share"});
    ASSERT_EQ(written.exit_code, 0) << written.err;
  }
  [[nodiscard]] std::string file(const std::string& place) const { return folder_ / ("share/" + place); }

  /// What bash suggests for the last of the words.
  [[nodiscard]] std::vector<std::string> suggested(const std::vector<std::string>& words) const {
    std::string line = "COMP_WORDS=(attnscope";
    for (const std::string& word : words) line += " '" + word + "'";
    line += "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _attnscope; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Outcome outcome = in_bash(folder_, "cd '" + folder_.path().string() + "'; source '" +
                                                 file("bash-completion/completions/attnscope") + "'; " + line);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    std::vector<std::string> lines;
    std::istringstream text(outcome.out);
    for (std::string each; std::getline(text, each);) {
      if (!each.empty()) lines.push_back(each);
    }
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_F(ShellFiles, BashCompletesCommandsOptionsValuesAndFiles) {
  EXPECT_THAT(suggested({"inf"}), ElementsAre("info"));
  EXPECT_THAT(suggested({"re"}), ElementsAre("remote", "report"));
  EXPECT_THAT(suggested({"info", "--fo"}), ElementsAre("--format", "--force"));
  EXPECT_THAT(suggested({"info", "--format", ""}), ElementsAre("text", "csv", "json", "md", "html"));
  EXPECT_THAT(suggested({"check", "--format", "j"}), ElementsAre("json", "junit"));
  EXPECT_THAT(suggested({"kernels", ""}), ElementsAre("build", "new"));
  EXPECT_THAT(suggested({"kernels", "build", "--arch"}), ElementsAre("--arch"));
  EXPECT_THAT(suggested({"kernels", "build", "--arch", ""}), ElementsAre());
  EXPECT_THAT(suggested({"collect", "--cache-control", ""}), ElementsAre("all", "none"));
  EXPECT_THAT(suggested({"help", "ax"}), ElementsAre("axes"));
  EXPECT_THAT(suggested({"help", "--completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(suggested({"collect", "--pl"}), ElementsAre()) << "what --help does not show";
  std::ofstream(folder_ / "one run.attnscope") << ' ';
  EXPECT_THAT(suggested({"info", "one"}), ElementsAre("one run.attnscope"));
  EXPECT_THAT(suggested({"compare", "x", "--noise", "one"}), ElementsAre("one run.attnscope"));
}

/// Names below "SECTION:" of a command's help, before their meanings.
std::set<std::string> listed(const std::string& help, const std::string& section) {
  std::set<std::string> names;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) inside = false;
    if (inside && line.size() > 2 && line.starts_with("  ") && line[2] != ' ') {
      std::string first;
      std::istringstream(line) >> first;
      std::istringstream each(first);
      for (std::string name; std::getline(each, name, ',');) names.insert(name);
    }
    if (line == section + ":") inside = true;
  }
  return names;
}

TEST_F(ShellFiles, EveryWordOfEveryCommandIsOfferedAndHasItsPlaceInThePages) {
  std::vector<Words> paths{{}};
  for (std::size_t k = 0; k < paths.size(); ++k) {
    Words asked = paths[k];
    asked.emplace_back("--help");
    const std::string help = run(folder_, asked).out;
    const std::set<std::string> below = listed(help, "Subcommands");
    std::string page = "attnscope";
    for (const std::string& word : paths[k]) page += "-" + word;
    const std::string manual = content(file("man/man1/" + page + ".1"));
    EXPECT_THAT(manual, StartsWith(".TH attnscope"));
    std::set<std::string> options = listed(help, "Options");
    EXPECT_FALSE(options.empty()) << page;
    Words begun = paths[k];
    begun.emplace_back("-");
    const std::vector<std::string> offered = suggested(begun);
    EXPECT_EQ(std::set<std::string>(offered.begin(), offered.end()), options) << page;
    for (std::string option : options) {
      for (std::size_t at = 0; (at = option.find('-', at)) != std::string::npos; at += 2) option.insert(at, "\\");
      EXPECT_THAT(manual, HasSubstr("\\fB" + option + "\\fR"));
    }
    begun.back() = "";
    if (!below.empty() && paths[k] != Words{"help"}) {
      const std::vector<std::string> commands = suggested(begun);
      EXPECT_EQ(std::set<std::string>(commands.begin(), commands.end()), below) << page;
    }
    for (const std::string& command : below) {
      paths.push_back(paths[k]);
      paths.back().push_back(command);
    }
  }
  EXPECT_GT(paths.size(), 25U);
  const auto pages = std::distance(fs::directory_iterator(file("man/man1")), fs::directory_iterator());
  EXPECT_EQ(static_cast<std::size_t>(pages), paths.size());
}

TEST_F(ShellFiles, AreWhatHelpPrints) {
  EXPECT_EQ(run(folder_, {"help", "--man"}).out, content(file("man/man1/attnscope.1")));
  EXPECT_EQ(run(folder_, {"help", "--man", "kernels", "build"}).out,
            content(file("man/man1/attnscope-kernels-build.1")));
  EXPECT_EQ(run(folder_, {"help", "--completion", "zsh"}).out, content(file("zsh/site-functions/_attnscope")));
  EXPECT_EQ(run(folder_, {"help", "--completion", "fish"}).out,
            content(file("fish/vendor_completions.d/attnscope.fish")));
  EXPECT_EQ(run(folder_, {"help", "--man", "inf"}).exit_code, 2);
  EXPECT_EQ(run(folder_, {"help", "--completion", "csh"}).exit_code, 2);
  std::ofstream(folder_ / "taken") << ' ';
  EXPECT_EQ(run(folder_, {"help", "--write-shell-files", folder_ / "taken"}).exit_code, 1);
}

TEST_F(ShellFiles, EveryPageIsGoodToMan) {
  const bool man = installed(folder_, "man");
  const bool mandoc = installed(folder_, "mandoc");
  if (!man && !mandoc) GTEST_SKIP() << "neither man nor mandoc is installed";
  for (const auto& page : fs::directory_iterator(file("man/man1"))) {
    const std::string name = "'" + page.path().string() + "'";
    if (man) {
      const Outcome outcome = in_bash(folder_, "MANWIDTH=80 man -E UTF-8 -l --warnings " + name);
      EXPECT_EQ(outcome.exit_code, 0) << name;
      EXPECT_EQ(outcome.err, "") << name;
      EXPECT_THAT(outcome.out, AllOf(HasSubstr("SYNOPSIS"), HasSubstr("--help"))) << name;
    }
    if (mandoc) {
      EXPECT_EQ(in_bash(folder_, "mandoc -Tlint -Wwarning " + name + " | grep -v 'missing date'").out, "") << name;
    }
  }
}

class OtherShells : public ShellFiles, public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(OtherShells, ReadItsCompletion) {
  const auto& [shell, place] = GetParam();
  if (!installed(folder_, shell)) GTEST_SKIP() << shell << " is not installed";
  const Outcome outcome = in_bash(folder_, std::string(shell) + " -n '" + file(place) + "'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
}

INSTANTIATE_TEST_SUITE_P(ShellFiles, OtherShells,
                         ::testing::Values(std::pair("bash", "bash-completion/completions/attnscope"),
                                           std::pair("zsh", "zsh/site-functions/_attnscope"),
                                           std::pair("fish", "fish/vendor_completions.d/attnscope.fish")),
                         [](const auto& test) { return std::string(test.param.first); });

}  // namespace
}  // namespace attnscope::testing
