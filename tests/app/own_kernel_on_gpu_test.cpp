// SPDX-License-Identifier: Apache-2.0
// A user's kernel, measured on the library that stands for a GPU (tests/gpu/fake), then read where nobody has it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stand_in.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class OwnKernelInAFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const Outcome begun = run(folder_, {"kernels", "new", "mine", "-o", folder_.path().string()});
    ASSERT_EQ(begun.exit_code, 0) << begun.err;
  }
  Outcome collect(const fs::path& into, const std::vector<std::string>& more = {}) const {
    Process::Options options = on_stand_in();
    // Beside a built-in kernel, whose points have the bytes that a picture needs.
    std::vector<std::string> words{
        "collect", "--kernel", statement_, "--algorithms", "mine,fa2", "-a", "N=[256,512,1024]", "-a",         "d=64",
        "-a",      "heads=2",  "-d",       "gpu",          "-q",       "-o", into.string(),      "--no-verify"};
    words.insert(words.end(), more.begin(), more.end());
    return run(folder_, words, options);
  }
  [[nodiscard]] std::string report_of(const std::vector<fs::path>& files, Outcome* outcome = nullptr,
                                      const std::vector<std::string>& more = {}) const {
    const fs::path report = folder_ / "report.md";
    std::vector<std::string> words{"report", "-o", report.string(), "--force"};
    for (const fs::path& file : files) words.push_back(file.string());
    words.insert(words.end(), more.begin(), more.end());
    const Outcome written = run(folder_, words);
    EXPECT_TRUE(fs::exists(report)) << written.err;
    if (outcome != nullptr) *outcome = written;
    return content(report);
  }

  const TemporaryFolder folder_;
  const std::string statement_ = folder_ / "mine/mine.json";
  const fs::path file_ = folder_ / "a.attnscope";
};

TEST_F(OwnKernelInAFile, IsNamedWithItsSourcesAndItsLawIsKnown) {
  EXPECT_THAT(collect(file_, {"--keep-sources"}).err, IsEmpty());
  {
    SQLite::Database database(file_.string());
    SQLite::Statement kept(database, "SELECT content FROM user_kernel_sources WHERE name = 'mine.cu'");
    ASSERT_TRUE(kept.executeStep());
    EXPECT_EQ(kept.getColumn(0).getString(), content(folder_ / "mine/mine.cu"));
  }
  fs::remove_all(folder_ / "mine");
  EXPECT_THAT(run(folder_, {"info", file_.string()}).out, HasSubstr("kernel mine of a user's: statement "));
  const std::string report = report_of({file_});
  EXPECT_THAT(report,
              AllOf(HasSubstr("Statement of a user's kernel"), HasSubstr("mine.cu"), HasSubstr("mine exact model")));
  const Outcome check = run(folder_, {"check", file_.string()});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  const Outcome again =
      run(folder_, {"collect", "--algorithms", "mine", "-a", "N=256", "-a", "d=64", "-o", file_.string()});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("unknown algorithm 'mine'"));
}

TEST_F(OwnKernelInAFile, StatedInTwoWaysHasNoLawUntilOneIsGiven) {
  EXPECT_THAT(collect(file_).err, IsEmpty());
  std::ofstream(statement_, std::ios::app) << '\n';
  const fs::path other = folder_ / "b.attnscope";
  EXPECT_THAT(collect(other).err, IsEmpty());
  Outcome told;
  EXPECT_THAT(report_of({file_, other}, &told), Not(HasSubstr("mine exact model")));
  EXPECT_THAT(told.err, AllOf(HasSubstr("b.attnscope states kernel mine otherwise than"), HasSubstr("--kernel")));
  EXPECT_THAT(report_of({file_, other}, &told, {"--kernel", statement_}), HasSubstr("mine exact model"));
  EXPECT_THAT(told.err, Not(HasSubstr("otherwise")));
}

}  // namespace
}  // namespace attnscope::testing
