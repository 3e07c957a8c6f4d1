// SPDX-License-Identifier: Apache-2.0
// Homework is answered in a browser and graded from its hand-in code; the lecturer's plan.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>

#include "browser.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string sample_of_law() {
  return (std::filesystem::path(ATTNSCOPE_SAMPLE).parent_path() / "h200-law.attnscope").string();
}

void save_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

/// Writes homework, lets a student answer everything as `key` says, and returns the hand-in code from the page.
std::string hand_in(const TemporaryFolder& folder, const std::filesystem::path& chromium, const nlohmann::json& key) {
  std::string page = content(folder / "homework.html");
  const std::string student = fmt::format(R"js(<script>
const key = {};
document.getElementById('name').value = '李 "O’Neil" <b>';
for (const item of document.querySelectorAll('li')) {{
  const right = key[item.dataset.id], choice = item.querySelector(`input[value="${{right}}"]`);
  if (choice) choice.checked = true; else item.querySelector('input').value = right;
}}
document.dispatchEvent(new Event('input'));
</script>)js",
                                          key.dump());
  page.insert(page.rfind("</body>"), student);
  save_text(folder / "answered.html", page);
  const Process::Options options{.program = chromium};
  const Outcome outcome = run(folder,
                              headless({"--user-data-dir=" + (folder / "profile").string(), "--dump-dom",
                                        "file://" + (folder / "answered.html").string()}),
                              options);
  std::smatch found;
  EXPECT_TRUE(std::regex_search(outcome.out, found, std::regex("attnscope1[.][A-Za-z0-9_-]+[.][0-9a-f]{8}")));
  return found[0];
}

TEST(Homework, IsGradedFromTheHandInCode) {
  const std::optional<std::filesystem::path> chromium = browser();
  if (!chromium) GTEST_SKIP() << "no chromium on PATH";
  const TemporaryFolder folder;
  const std::string file = (folder / "homework.html").string();
  expect_exit(0, run(folder, {"lesson", "homework", ATTNSCOPE_SAMPLE, "--seed", "17", "-o", file}));
  const Outcome keys =
      expect_exit(0, run(folder, {"lesson", "grade", "--data", ATTNSCOPE_SAMPLE, "--seed", "17", "--json"}));
  const nlohmann::json rows = nlohmann::json::parse(keys.out)["rows"];
  nlohmann::json key;
  for (const nlohmann::json& row : rows) key[row["question"].get<std::string>()] = row["key"];
  ASSERT_GE(key.size(), 25U);
  EXPECT_TRUE(key.contains("claim-memory-bound"));
  key["race-factor"] = "1";
  const std::string code = hand_in(folder, *chromium, key);
  save_text(folder / "mail.txt", "From: me\n" + code + "\nand cut off: " + code.substr(0, 200) + ".00000000\n");
  const auto grade = [&](const Words& more) {
    return run(folder, Words{"lesson", "grade", "--data", ATTNSCOPE_SAMPLE} + more);
  };
  const std::string sum = fmt::format("李 \"O’Neil\" <b>: {} / {}", key.size() - 1, key.size());
  EXPECT_THAT(expect_exit(0, grade({code})).out, HasSubstr(sum));
  const Outcome mail = expect_exit(5, grade({(folder / "mail.txt").string(), "--csv"}));
  EXPECT_THAT(mail.out, HasSubstr(",race-factor,1,"));
  EXPECT_THAT(mail.err, HasSubstr("incomplete or changed"));
  const Outcome other = expect_exit(5, run(folder, {"lesson", "grade", "--data", sample_of_law(), code}));
  EXPECT_THAT(other.err, HasSubstr("--data"));
  expect_exit(2, grade({}));
  EXPECT_THAT(expect_exit(1, grade({file + ".none"})).err, HasSubstr(file + ".none"));
}

TEST(LecturePlan, IsWrittenInEitherLanguage) {
  for (const char* language : {"en", "zh"}) {
    const TemporaryFolder folder;
    const std::string file = (folder / "plan.html").string();
    const Outcome outcome = expect_exit(
        0, run(folder, {"lesson", "plan", ATTNSCOPE_SAMPLE, sample_of_law(), "--lang", language, "-o", file}));
    EXPECT_THAT(outcome.out, HasSubstr("9 screens, 45 minutes"));
    const std::string page = content(file);
    EXPECT_THAT(page, HasSubstr("1.98"));  // exponent of N in the data
    EXPECT_THAT(page, HasSubstr("42–45"));
    EXPECT_THAT(page, Not(HasSubstr("{{")));
  }
}

}  // namespace
}  // namespace attnscope::testing
