// SPDX-License-Identifier: Apache-2.0
#include "kernels/files/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

TEST(RegularFile, IsReadUpToItsLimit) {
  const testing::TemporaryFolder folder;
  const std::string content(100'000, 'x');
  std::ofstream(folder / "file") << content;
  EXPECT_EQ(*read_regular_file(folder / "file", content.size()), content);
  EXPECT_FALSE(read_regular_file(folder / "file", content.size() - 1).ok());
  std::ofstream(folder / "empty") << "";
  EXPECT_EQ(*read_regular_file(folder / "empty", 0), "");
}

TEST(RegularFile, OfSizeZeroCanHaveContent) {
  EXPECT_FALSE(read_regular_file("/proc/self/status", 1 << 20)->empty());
  EXPECT_FALSE(read_regular_file("/proc/self/status", 10).ok());
}

TEST(RegularFile, RejectsOthersWithoutOpeningThem) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const std::filesystem::path& file :
       {folder / "pipe", folder / "loop", folder / "missing", folder / ".", std::filesystem::path("/dev/zero")}) {
    EXPECT_FALSE(regular_file_error(file).empty()) << file;
    const auto read = read_regular_file(file, 1 << 20);
    ASSERT_FALSE(read.ok()) << file;
    EXPECT_EQ(read.error(), regular_file_error(file)) << file;
  }
}

}  // namespace
}  // namespace attnscope
