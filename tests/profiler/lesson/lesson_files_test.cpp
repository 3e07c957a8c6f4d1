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

/// Returns "en/a.md: 4 bytes" or the file's problem.
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
  write_text(outside / "secret.md", "not to be shown");
  const testing::TemporaryFolder folder;
  write_text(folder / "en/step-1.md", "text");
  write_text(folder / "en/.step-1.md.swp", "x");
  write_text(folder / "en/step-1.md~", "x");
  write_text(folder / "en/step-2.md.txt", "text");
  write_text(folder / "notes.txt", "text");
  write_text(folder / "claims/large.md", std::string(analysis::lesson::max_text_bytes + 1, 'x'));
  write_text(folder / "claims/most.json", std::string(analysis::lesson::max_text_bytes, 'x'));
  std::filesystem::create_symlink(outside / "secret.md", folder / "en/out.md");
  std::filesystem::create_symlink("step-1.md", folder / "en/step-3.md");
  std::filesystem::create_directory_symlink(outside.path(), folder / "more");
  ASSERT_EQ(::mkfifo((folder / "en/pipe.md").c_str(), 0600), 0);
  const auto ignored = [](const std::string& file) {
    return AllOf(StartsWith(file + ": "), HasSubstr(".md"), Not(HasSubstr("bytes")));
  };
  EXPECT_THAT(read_results(folder.path()),
              ElementsAre(AllOf(StartsWith("claims/large.md: "), HasSubstr("1024 KiB")),
                          "claims/most.json: 1048576 bytes", ignored("en/out.md"), ignored("en/pipe.md"),
                          "en/step-1.md: 4 bytes", ignored("en/step-2.md.txt"), ignored("en/step-3.md")));
}

TEST(LessonTextFolder, AcceptsTrailingSlash) {
  const testing::TemporaryFolder folder;
  write_text(folder.path() / "notes.txt", "text");
  write_text(folder.path() / "en" / "step-1.md", "text");
  EXPECT_THAT(read_results(folder.path() / ""), ElementsAre("en/step-1.md: 4 bytes"));
  EXPECT_THAT(read_results(folder.path()), ElementsAre("en/step-1.md: 4 bytes"));
}

TEST(LessonTextFolder, PrintsInvalidNames) {
  const testing::TemporaryFolder folder;
  write_text(folder.path() / "en" / "step-\xFF\xFE.md", "text");
  const auto lines = read_results(folder.path());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.front(), "en/step-\\xff\\xfe.md: 4 bytes");
}

TEST(LessonTextFolder, MissingFolderIsEmpty) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(read_results(folder / "nothing"), IsEmpty());
}

TEST(LessonTextFolder, ReportsUnreadableFolder) {
  const testing::TemporaryFolder folder;
  if (::geteuid() == 0) GTEST_SKIP() << "running as root";
  std::filesystem::create_directories(folder / "en");
  std::filesystem::permissions(folder / "en", std::filesystem::perms::none);
  EXPECT_THAT(read_results(folder.path()), ElementsAre(AllOf(StartsWith("en: "), HasSubstr("Permission denied"))));
  std::filesystem::permissions(folder / "en", std::filesystem::perms::all);
}

}  // namespace
}  // namespace attnscope
