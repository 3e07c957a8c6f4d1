// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/file_system.h"

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

class UserFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* home = std::getenv("HOME");
    home_ = home != nullptr ? home : "";
    parent_ = fs::path(testing::TempDir()) / ("attnscope-private-" + std::to_string(getpid()));
    fs::create_directories(parent_);
  }
  void TearDown() override {
    setenv("HOME", home_.c_str(), 1);
    fs::remove_all(parent_);
  }

  std::string home_;
  fs::path parent_;
};

TEST_F(UserFolders, HomeFolderIsAbsolute) {
  setenv("HOME", "/somewhere", 1);
  EXPECT_EQ(home_folder(), "/somewhere");
  for (const char* word : {"", "relative/home", "."}) {
    setenv("HOME", word, 1);
    EXPECT_TRUE(home_folder().empty() || home_folder().is_absolute()) << word;
    EXPECT_NE(home_folder(), word);
  }
  unsetenv("HOME");
  EXPECT_TRUE(home_folder().empty() || home_folder().is_absolute());
}

TEST_F(UserFolders, PrivateFolderBelongsToTheUser) {
  const fs::path folder = private_folder(parent_);
  ASSERT_FALSE(folder.empty());
  struct stat made {};
  ASSERT_EQ(stat(folder.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0700U);
  EXPECT_EQ(private_folder(parent_), folder) << "returns the existing folder";
  fs::permissions(folder, fs::perms::owner_all | fs::perms::group_write);
  EXPECT_EQ(private_folder(parent_), "") << "others could write to it";
  fs::remove(folder);
  fs::create_directory_symlink(parent_, folder);
  EXPECT_EQ(private_folder(parent_), "") << "symlinks are not followed";
  fs::remove(folder);
  std::ofstream(folder) << "a file";
  EXPECT_EQ(private_folder(parent_), "");
  EXPECT_EQ(private_folder(parent_ / "missing"), "");
}

}  // namespace
}  // namespace attnscope
