// SPDX-License-Identifier: Apache-2.0
// Search order of the recorded samples.
#include "profiler/files/recorded_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Sets an environment variable until the end of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(RecordedSamples, AreSearchedBesideTheProgramThenInDataFolders) {
  const testing::TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  fs::create_directories(root / "opt/bin");
  std::ofstream(root / "opt/bin/attnscope") << "a program";
  fs::create_symlink(root / "opt/bin/attnscope", root / "link");
  const Variable data("XDG_DATA_HOME", "/home/of/data");
  {
    const Variable shared("XDG_DATA_DIRS", "/first:not/absolute::/second");
    EXPECT_THAT(sample_folders(root / "link"),
                ElementsAre(root / "opt/share/attnscope/samples", "/home/of/data/attnscope/samples",
                            "/first/attnscope/samples", "/second/attnscope/samples"));
  }
  const Variable unset("XDG_DATA_DIRS", "");
  EXPECT_THAT(sample_folders("/there/is/none"),
              ElementsAre("/home/of/data/attnscope/samples", "/usr/local/share/attnscope/samples",
                          "/usr/share/attnscope/samples"));
}

TEST(RecordedSamples, FirstExistingSampleIsUsed) {
  const testing::TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  for (const char* which : {"first", "second"}) {
    fs::create_directories(root / which / "attnscope/samples");
    std::ofstream(root / which / "attnscope/samples/of-all.attnscope") << which;
  }
  fs::create_directories(root / "first/attnscope/samples/of-second.attnscope");  // a folder is not a sample
  std::ofstream(root / "second/attnscope/samples/of-second.attnscope") << "second";
  std::ofstream(root / "second/attnscope/samples/h200.attnscope") << "not the sample next to the program";
  const Variable shared("XDG_DATA_DIRS", (root / "first").string() + ":" + (root / "second").string());
  EXPECT_EQ(sample_path("of-all"), root / "first/attnscope/samples/of-all.attnscope");
  EXPECT_EQ(sample_path("of-second"), root / "second/attnscope/samples/of-second.attnscope");
  EXPECT_EQ(sample_path("of-none"), "");
  EXPECT_EQ(sample_path(main_sample), fs::canonical(ATTNSCOPE_SAMPLE));
  EXPECT_EQ(sample_path(second_sample), fs::canonical(ATTNSCOPE_SECOND_SAMPLE));
  EXPECT_THAT(sample_paths({"of-none", "of-all"}), ElementsAre(root / "first/attnscope/samples/of-all.attnscope"));
  EXPECT_THAT(sample_paths({"of-none"}), IsEmpty());
  EXPECT_THAT(sample_paths({law_sample}), ElementsAre(fs::canonical(ATTNSCOPE_LAW_SAMPLE)));
}

}  // namespace
}  // namespace attnscope
