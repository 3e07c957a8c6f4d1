// SPDX-License-Identifier: Apache-2.0
// Reports are in the language of --lang; the terminal is English.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Language : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string page = (folder / "report.html").string();
};

TEST_F(Language, of_a_report_is_the_one_that_was_asked_for) {
  for (const std::string language : {"en", "zh"}) {
    const Outcome outcome = run(folder, {"report", ATTNSCOPE_SAMPLE, "-o", page, "--force", "--lang", language});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string text = content(page);
    EXPECT_THAT(text, StartsWith("<!DOCTYPE html>\n<html lang=\"" + language + "\">"));
    EXPECT_EQ(text.find("测点") != std::string::npos, language == "zh");
  }
}

TEST_F(Language, that_is_unknown_is_a_usage_error) {
  const Outcome outcome = run(folder, {"report", ATTNSCOPE_SAMPLE, "-o", page, "--lang", "fr"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("fr not in {en,zh}"));
  EXPECT_EQ(run(folder, {"info", "x.attnscope", "--lang", "zh"}).exit_code, 2) << "the terminal is English";
}

TEST_F(Language, of_the_locale_is_not_the_terminals) {
  const Outcome outcome = run(folder, {"info", "nowhere.attnscope"}, {.environment = {{"LC_ALL", "zh_CN.UTF-8"}}});
  EXPECT_EQ(outcome.err, "attnscope: nowhere.attnscope does not exist\n");
}

}  // namespace
}  // namespace attnscope::testing
