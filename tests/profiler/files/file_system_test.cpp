// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/gpu_values.h"
#include "profiler/files/gpu_file.h"
#include "profiler/files/output_file.h"

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

TEST_F(UserFolders, DataFolderIgnoresRelativePaths) {
  const char* before = std::getenv("XDG_DATA_HOME");
  const std::string kept = before != nullptr ? before : "";
  setenv("HOME", "/somewhere", 1);
  for (const auto& [word, folder] : {std::pair("/data", "/data/attnscope"),
                                     {"data", "/somewhere/.local/share/attnscope"},
                                     {"", "/somewhere/.local/share/attnscope"}}) {
    setenv("XDG_DATA_HOME", word, 1);
    EXPECT_EQ(data_folder(), folder) << word;
  }
  if (before == nullptr) {
    unsetenv("XDG_DATA_HOME");
  } else {
    setenv("XDG_DATA_HOME", kept.c_str(), 1);
  }
}

// Files are read in pieces of 1 MiB; the last byte decides.
TEST_F(UserFolders, DigestIncludesTheLastByte) {
  const auto digest = [this](std::size_t size, char last) {
    std::string content(size, 'x');
    if (size > 0) content.back() = last;
    std::ofstream(parent_ / "file", std::ios::trunc) << content;
    return file_digest(parent_ / "file");
  };
  std::set<std::string> digests;
  constexpr std::size_t piece = std::size_t{1} << 20U;
  for (const std::size_t size : {std::size_t{1}, piece, piece + 1, 2 * piece, 2 * piece + 1}) {
    digests.insert(digest(size, 'a'));
    digests.insert(digest(size, 'b'));
  }
  EXPECT_EQ(digests.size(), 10U);
  EXPECT_EQ(digest(0, 'x'), "99aa06d3014798d86001c324468d497f") << "of no bytes, as published for XXH3";
  EXPECT_EQ(digest(piece + 1, 'a').size(), 32U);
  EXPECT_EQ(file_digest(parent_ / "missing"), "");
  EXPECT_EQ(file_digest(parent_), "");
}

TEST_F(UserFolders, StampHasTheNanoseconds) {
  const fs::path file = parent_ / "changed";
  std::ofstream(file) << "content";
  const std::array<timespec, 2> times{{{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 7, .tv_nsec = 250'000'000}}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times.data(), 0), 0);
  EXPECT_EQ(file_stamp(file).modified_ns, 7'250'000'000);
  EXPECT_EQ(file_stamp(file).size, 7);
}

TEST(GpuText, NamesAGpuOfTheSameComputeCapability) {
  for (const auto& [name, known_minor] : {std::pair("A100", 0), {"RTX 3090", 6}, {"L40S", 9}}) {
    const auto gpu = parse_gpu(gpu_text(make_custom_gpu(*find_gpu(name), "Mine")), "gpu.json");
    ASSERT_TRUE(gpu) << gpu.error();
    EXPECT_EQ(gpu->compute_major, 8) << name;
    EXPECT_EQ(gpu->compute_minor, known_minor) << name;
  }
}

TEST(FileKinds, RecognizesTablesByTheirHeader) {
  for (const auto& [text, is_ours] :
       std::vector<std::pair<std::string, bool>>{{"algorithm", true},
                                                 {"run,algorithm\r\n", true},
                                                 {"\xEF\xBB\xBF# note\n#\npass,algorithm,tile\n", true},
                                                 {"run,name,preset\n", true},
                                                 {"item,status,detail\n", true},
                                                 {"file,state,runs\n", true},
                                                 {"device_uuid,measured_at,ceiling\n", true},
                                                 {"run,names\n", false},
                                                 {"algorithms,pass\n", false},
                                                 {"pass\nalgorithm\n", false},
                                                 {"# algorithm", false},
                                                 {"", false}}) {
    EXPECT_EQ(file_kind::csv.is_one(text), is_ours) << text;
  }
  for (const auto& [text, is_ours] :
       std::vector<std::pair<std::string, bool>>{{" \t\r\n[", true}, {"{", true}, {"a{", false}, {"  ", false}}) {
    EXPECT_EQ(file_kind::json.is_one(text), is_ours) << text;
  }
  for (const auto& [name, noun] : {std::pair("a.PNG", file_kind::png.noun),
                                   {"a.b.svg", file_kind::svg.noun},
                                   {"a.Pdf", file_kind::pdf.noun},
                                   {"a.csv", file_kind::csv.noun},
                                   {"a.json", file_kind::json.noun}}) {
    EXPECT_EQ(file_kind::for_file_name(name).noun, noun) << name;
  }
  EXPECT_EQ(file_kind::for_file_name("png").is_one, nullptr);
}

TEST_F(UserFolders, SymlinksAreResolvedToTheLastTarget) {
  fs::create_directory(parent_ / "below");
  fs::create_symlink("below/second", parent_ / "first");
  fs::create_symlink("../third", parent_ / "below/second");
  EXPECT_EQ(resolve_symlinks(parent_ / "first"), fs::canonical(parent_) / "third");
  EXPECT_EQ(resolve_symlinks(parent_ / "plain"), fs::canonical(parent_) / "plain");
}

// A name of 255 bytes leaves no room for a suffix; leftovers of two such names are told apart by their first 200 bytes.
TEST_F(UserFolders, LongNamesHaveTemporaryFiles) {
  const fs::path file = parent_ / (std::string(250, 'n') + ".json");
  const fs::path left = parent_ / ("." + std::string(200, 'n') + ".0123456789abcdef.part");
  const fs::path other = parent_ / ("." + std::string(199, 'n') + ".0123456789abcdef.part");
  for (const fs::path& part : {left, other}) std::ofstream(part) << "half";
  OutputFile out(file, file_kind::json, OutputFile::ExistingFile::same_kind);
  out.write("{}");
  out.commit();
  EXPECT_EQ(fs::file_size(file), 2U);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(other));
}

}  // namespace
}  // namespace attnscope
