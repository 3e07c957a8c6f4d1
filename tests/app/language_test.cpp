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
                  " English is used.\nattnscope: there is no command 'frobnicate' (see `attnscope --help`)\n");
  }
  const auto named = [&](const std::string& path) {
    return run(folder, {"--version"}, {.environment = {{"ATTNSCOPE_MESSAGES", path}}});
  };
  EXPECT_THAT(named("/nowhere/x.json").err,
              HasSubstr("/nowhere/x.json: it cannot be read (No such file or directory)."));
  EXPECT_THAT(named("/dev/zero").err, HasSubstr("/dev/zero: it is no file. English is used.\n"));
  EXPECT_THAT(named(folder.path().string()).err, HasSubstr(": it is no file. English is used.\n"));
  EXPECT_EQ(named("/dev/zero").exit_code, 0);
  EXPECT_EQ(named("").err, "");
}

}  // namespace
}  // namespace attnscope::testing
