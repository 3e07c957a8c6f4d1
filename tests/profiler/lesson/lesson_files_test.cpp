// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// Returns "screens/a.json: 4 bytes" or the file's problem.
std::vector<std::string> read_results(const std::filesystem::path& folder) {
  std::vector<std::string> lines;
  for (const auto& file : read_lesson_texts(folder)) {
    lines.push_back(
        file.path + ": " +
        (file.read_error.empty() ? std::to_string(file.text.size()) + " bytes" : english_text(file.read_error)));
  }
  return lines;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

TEST(LessonTextFolder, ReportsIgnoredFiles) {
  const testing::TemporaryFolder outside;
  write_text(outside / "secret.json", "not to be shown");
  const testing::TemporaryFolder folder;
  write_text(folder / "screens/a.json", "text");
  write_text(folder / "screens/.a.json.swp", "x");
  write_text(folder / "screens/a.json~", "x");
  write_text(folder / "screens/b.json.txt", "text");
  write_text(folder / "notes.txt", "text");
  write_text(folder / "claims/large.json", std::string(analysis::lesson::max_text_bytes + 1, 'x'));
  write_text(folder / "claims/most.json", std::string(analysis::lesson::max_text_bytes, 'x'));
  std::filesystem::create_symlink(outside / "secret.json", folder / "screens/out.json");
  std::filesystem::create_symlink("a.json", folder / "screens/c.json");
  std::filesystem::create_directory_symlink(outside.path(), folder / "more");
  ASSERT_EQ(::mkfifo((folder / "screens/pipe.json").c_str(), 0600), 0);
  const auto ignored = [](const std::string& file) {
    return AllOf(StartsWith(file + ": "), HasSubstr(".json"), Not(HasSubstr("bytes")));
  };
  EXPECT_THAT(read_results(folder.path()),
              ElementsAre(AllOf(StartsWith("claims/large.json: "), HasSubstr("1024 KiB")),
                          "claims/most.json: 1048576 bytes", "screens/a.json: 4 bytes", ignored("screens/b.json.txt"),
                          ignored("screens/c.json"), ignored("screens/out.json"), ignored("screens/pipe.json")));
}

TEST(LessonTextFolder, AcceptsTrailingSlash) {
  const testing::TemporaryFolder folder;
  write_text(folder.path() / "notes.txt", "text");
  write_text(folder.path() / "screens" / "a.json", "text");
  EXPECT_THAT(read_results(folder.path() / ""), ElementsAre("screens/a.json: 4 bytes"));
  EXPECT_THAT(read_results(folder.path()), ElementsAre("screens/a.json: 4 bytes"));
}

TEST(LessonTextFolder, PrintsInvalidNames) {
  const testing::TemporaryFolder folder;
  write_text(folder.path() / "screens" / "a-\xFF\xFE.json", "text");
  const auto lines = read_results(folder.path());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.front(), "screens/a-\\xff\\xfe.json: 4 bytes");
}

TEST(LessonTextFolder, MissingFolderIsEmpty) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(read_results(folder / "nothing"), IsEmpty());
}

TEST(LessonTextFolder, ReportsUnreadableFolder) {
  const testing::TemporaryFolder folder;
  if (::geteuid() == 0) GTEST_SKIP() << "running as root";
  std::filesystem::create_directories(folder / "screens");
  std::filesystem::permissions(folder / "screens", std::filesystem::perms::none);
  EXPECT_THAT(read_results(folder.path()), ElementsAre(AllOf(StartsWith("screens: "), HasSubstr("Permission denied"))));
  std::filesystem::permissions(folder / "screens", std::filesystem::perms::all);
}

}  // namespace
}  // namespace attnscope
