// SPDX-License-Identifier: Apache-2.0
// The command line in another language: the English texts, each between «».
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "messages/embedded.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string marked_texts() {
  nlohmann::ordered_json groups = nlohmann::ordered_json::parse(embedded_messages());
  for (auto& group : groups) {
    for (auto& text : group) text = "«" + text.get<std::string>() + "»";
  }
  return groups.dump();
}

class Language : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome run_in(const std::string& catalogue, const std::vector<std::string>& arguments) const {
    std::ofstream(folder / "texts.json") << catalogue;
    return run(folder, arguments, {.environment = {{"ATTNSCOPE_MESSAGES", (folder / "texts.json").string()}}});
  }
  TemporaryFolder folder;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_F(Language, is_the_catalogues_that_is_named) {
  const Outcome outcome = run_in(marked_texts(), {"collect", "--device", "simulated:Q9"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("attnscope: «no GPU named 'Q9' is known; known: "), EndsWith("»\n")));
}

TEST_F(Language, of_what_a_catalogue_lacks_is_english) {
  const Outcome outcome = run_in(R"({"command": {"no_command": "kein Kommando"}})", {"info", "nowhere.attnscope"});
  EXPECT_EQ(outcome.err, "attnscope: nowhere.attnscope does not exist\n");
}

TEST_F(Language, may_leave_arguments_out_but_rules_no_terminal) {
  const Outcome outcome = run_in(R"({"command": {"unknown_gpu": "\u001b[2Jkeine \u0007 solche GPU"}})",
                                 {"collect", "--device", "simulated:Q9"});
  EXPECT_EQ(outcome.err, "attnscope: [2Jkeine  solche GPU\n");
}

/// But for when it was written, which two commands need not share.
std::string without_time(std::string text) {
  const std::string key = "\"created_at\": \"";
  const std::size_t begin = text.find(key);
  if (begin != std::string::npos) text.erase(begin, text.find('\n', begin) - begin);
  return text;
}

TEST_F(Language, is_for_people_alone) {
  const std::string file = (folder / "runs.attnscope").string();
  const Outcome collected =
      run_in(marked_texts(), {"collect", "--device", "simulated", "-a", "N=[128,256]", "-a", "d=[64,72]", "-o", file});
  ASSERT_EQ(collected.exit_code, 0) << collected.err;
  EXPECT_THAT(collected.out + collected.err,
              AllOf(HasSubstr("«Device: «simulated NVIDIA H200»»"), HasSubstr("«into " + file + " (run 1)»")));
  // What is read by programs is in no language: the same bytes, and what the run left in the file is no text of ours.
  for (const char* format : {"csv", "json"}) {
    const Outcome english = run(folder, {"export", "--format", format, file});
    const Outcome other = run_in(marked_texts(), {"export", "--format", format, file});
    EXPECT_EQ(english.exit_code, 0) << english.err;
    EXPECT_EQ(without_time(english.out), without_time(other.out)) << format;
    EXPECT_THAT(english.out, AllOf(HasSubstr("d 72 is not supported"), Not(HasSubstr("«")))) << format;
  }
  const Outcome held = run_in(marked_texts(), {"info", file});
  EXPECT_THAT(held.out, AllOf(StartsWith("«" + file + ": schema version "), HasSubstr("«device NVIDIA H200 "),
                              HasSubstr("«128 to 256»")));
  EXPECT_EQ(run_in(marked_texts(), {"check", file}).out.find("««" + file + ": «1 run», «"), 0U);
}

TEST_F(Language, of_no_command_leaves_english_lines) {
  const std::string file = (folder / "runs.attnscope").string();
  ASSERT_EQ(run(folder, {"collect", "--device", "simulated", "-a", "N=128", "-a", "d=64", "-o", file}).exit_code, 0);
  const std::vector<std::vector<std::string>> commands{
      {"check", file}, {"import", "-o", file, (folder / "points.json").string()}, {"paper", file}, {"info", "x"}};
  ASSERT_EQ(run(folder, {"export", "--format", "json", "-o", (folder / "points.json").string(), file}).exit_code, 0);
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = run_in(marked_texts(), command);
    for (const std::string& line : lines_of(outcome.out + outcome.err)) EXPECT_THAT(line, HasSubstr("«")) << command[0];
  }
}

TEST_F(Language, is_the_command_lines_then_the_locales) {
  const auto said = [&](const std::vector<std::string>& asked, std::map<std::string, std::string> environment) {
    std::vector<std::string> arguments{"info", "nowhere.attnscope"};
    arguments.insert(arguments.end(), asked.begin(), asked.end());
    const Outcome outcome = run(folder, arguments, {.environment = std::move(environment)});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    return outcome.err;
  };
  const std::string english = "attnscope: nowhere.attnscope does not exist\n";
  const std::string chinese = said({"--lang", "zh"}, {});
  EXPECT_THAT(chinese, AllOf(StartsWith("attnscope: "), HasSubstr("nowhere.attnscope"), HasSubstr("不存在")));
  EXPECT_EQ(said({"--lang=zh"}, {}), chinese);
  for (const char* locale : {"zh_CN.UTF-8", "zh_TW", "zh"}) EXPECT_EQ(said({}, {{"LC_ALL", locale}}), chinese);
  EXPECT_EQ(said({}, {{"LC_ALL", ""}, {"LC_MESSAGES", "zh_CN.UTF-8"}, {"LANG", "en_US.UTF-8"}}), chinese);
  EXPECT_EQ(said({}, {{"LC_ALL", ""}, {"LC_MESSAGES", ""}, {"LANG", "zh_CN.UTF-8"}}), chinese);
  EXPECT_EQ(said({"--lang", "en"}, {{"LC_ALL", "zh_CN.UTF-8"}}), english);
  for (const char* locale : {"zha_CN", "xx_YY.UTF-8", "POSIX"}) EXPECT_EQ(said({}, {{"LC_ALL", locale}}), english);
  std::ofstream(folder / "texts.json") << marked_texts();
  const std::string named = (folder / "texts.json").string();
  EXPECT_THAT(said({}, {{"ATTNSCOPE_MESSAGES", named}, {"LC_ALL", "zh_CN.UTF-8"}}), HasSubstr("«"));
  EXPECT_EQ(said({"--lang", "zh"}, {{"ATTNSCOPE_MESSAGES", named}}), chinese);
}

TEST_F(Language, that_is_unknown_is_a_usage_error) {
  const Outcome outcome = run(folder, {"info", "--lang", "fr", "x.attnscope"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err, "attnscope: there is no language 'fr'; there are en, zh\n");
  EXPECT_EQ(run(folder, {"info", "x.attnscope", "--lang"}).exit_code, 2);
}

TEST_F(Language, of_a_report_is_the_one_asked_for) {
  const std::string file = (folder / "runs.attnscope").string();
  ASSERT_EQ(run(folder, {"collect", "--device", "simulated", "-a", "N=128", "-a", "d=64", "-o", file, "--lang", "zh"})
                .exit_code,
            0);
  const std::string page = (folder / "report.html").string();
  for (const std::string language : {"en", "zh"}) {
    const Outcome outcome = run(folder, {"report", file, "-o", page, "--force", "--lang", language});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string text = content(page);
    EXPECT_THAT(text, StartsWith("<!DOCTYPE html>\n<html lang=\"" + language + "\">"));
    EXPECT_EQ(text.find("测点") != std::string::npos, language == "zh");
    EXPECT_THAT(text, HasSubstr("NVIDIA H200"));
  }
  // What was collected in Chinese is in the file as ever.
  EXPECT_EQ(run(folder, {"export", "--format", "csv", file}).out.find("模"), std::string::npos);
}

TEST_F(Language, of_a_document_is_the_one_in_use_where_there_is_one) {
  EXPECT_THAT(run(folder, {"help", "tutorial", "--lang", "zh"}).out, StartsWith("# 教程"));
  EXPECT_THAT(run(folder, {"help", "tutorial"}).out, StartsWith("# Tutorial"));
  EXPECT_THAT(run(folder, {"help", "install", "--lang", "zh"}).out, StartsWith("# Install"));
}

struct BadCatalogue {
  std::string text;
  std::string why;
};
std::ostream& operator<<(std::ostream& out, const BadCatalogue& bad) {
  return out << bad.why;
}

TEST_F(Language, stays_english_with_one_line_where_the_file_is_of_no_use) {
  const std::vector<BadCatalogue> cases{
      {"", "it is no JSON object of groups of texts."},
      {"[1]", "it is no JSON object of groups of texts."},
      {R"({"command": "x"})", "'command' is no JSON object of texts."},
      {R"({"command": {"no_command": 7}})", "'command.no_command' is no text."},
      {R"({"command": {"no_command": "{word}"}})",
       "'command.no_command' has a place {word} that its English text has not."},
      {std::string((4U << 20U) + 1, ' '), "it has more than 4 MiB."},
  };
  for (const BadCatalogue& bad : cases) {
    const Outcome outcome = run_in(bad.text, {"frobnicate"});
    EXPECT_EQ(outcome.exit_code, 2) << bad;
    EXPECT_EQ(outcome.err,
              "attnscope: ATTNSCOPE_MESSAGES: " + (folder / "texts.json").string() + ": " + bad.why +
                  " It is not used.\nattnscope: there is no command 'frobnicate' (see `attnscope --help`)\n");
  }
  const auto named = [&](const std::string& path) {
    return run(folder, {"--version"}, {.environment = {{"ATTNSCOPE_MESSAGES", path}}});
  };
  EXPECT_THAT(named("/nowhere/x.json").err,
              HasSubstr("/nowhere/x.json: it cannot be read (No such file or directory)."));
  EXPECT_THAT(named("/dev/zero").err, HasSubstr("/dev/zero: it is no file. It is not used.\n"));
  EXPECT_THAT(named(folder.path().string()).err, HasSubstr(": it is no file. It is not used.\n"));
  EXPECT_EQ(named("/dev/zero").exit_code, 0);
  EXPECT_EQ(named("").err, "");
}

}  // namespace
}  // namespace attnscope::testing
