// SPDX-License-Identifier: Apache-2.0
// File errors: kind, a one-line message with the path, and unchanged files.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/sanitized.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

using test::HasWords;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = FileError::Kind;
using Mode = RunStore::Mode;
using FileErrors = FileTest;

/// Expects that both modes fail with `kind` and a one-line message with the file name, and change nothing.
void expect_open_error(const std::filesystem::path& file, Kind kind) {
  const std::string before = content(file);
  for (const Mode mode : {Mode::read_only, Mode::collect}) {
    const FileError error = storage_error_of([&] { (void)RunStore::open(file, mode).points(); });
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(file.filename().string()));
    EXPECT_THAT(error.what(), Not(AnyOf(HasSubstr("\n"), HasSubstr("***"))));
  }
  EXPECT_TRUE(content(file) == before) << "the file was changed";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1) << "files are left";
}

/// Returns the exit code of a child, or the negative signal number.
int exit_code(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(FileErrors, missing) {
  const FileError error = storage_error_of([&] { RunStore::open(folder / "no.attnscope", Mode::read_only); });
  EXPECT_EQ(error.kind(), Kind::not_found);
  EXPECT_THAT(error.what(), HasSubstr("no.attnscope"));
}

TEST_F(FileErrors, pipes_beside_a_file_are_not_opened) {
  { const RunStore store = RunStore::open(file, Mode::collect); }
  for (const char* suffix : {"-lock", "-wal", "-shm", "-journal"}) {
    const std::filesystem::path beside = file.string() + suffix;
    std::filesystem::remove(beside);
    ASSERT_EQ(::mkfifo(beside.c_str(), 0600), 0);
    for (const Mode mode : {Mode::read_only, Mode::collect}) {
      const FileError error = storage_error_of([&] { (void)RunStore::open(file, mode); });
      EXPECT_THAT(error.what(), HasSubstr(beside.filename().string()));
    }
    std::filesystem::remove(beside);
  }
}

TEST_F(FileErrors, a_folder) {
  for (const Mode mode : {Mode::read_only, Mode::collect}) {
    EXPECT_EQ(storage_error_of([&] { RunStore::open(folder.path(), mode); }).kind(), Kind::not_a_database);
  }
}

void overwrite(const std::filesystem::path& file, std::uintmax_t from, std::uintmax_t bytes) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(from));
  out << std::string(bytes, '\x5a');
}

/// Change to a file of 40 points, and the expected error.
struct OpenErrorCase {
  const char* name;
  Kind kind;
  void (*change)(const std::filesystem::path& file);
  std::string words = {};  ///< in the error
};

class UnreadableFiles : public ::testing::TestWithParam<OpenErrorCase> {};

TEST_P(UnreadableFiles, are_not_modified) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_run(file, std::vector<PointRecord>(40, full_record()));
  GetParam().change(file);
  expect_open_error(file, GetParam().kind);
  const FileError error = storage_error_of([&] { (void)RunStore::open(file, Mode::read_only); });
  EXPECT_THAT(error.what(), HasWords(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    Files, UnreadableFiles,
    ::testing::Values(
        OpenErrorCase{"no_database", Kind::not_a_database,
                      [](const std::filesystem::path& file) {
                        std::ofstream(file) << "My shopping list: " << std::string(5000, 'x');
                      }},
        OpenErrorCase{"of_another_program", Kind::foreign,
                      [](const std::filesystem::path& file) {
                        std::filesystem::remove(file);
                        SQLite::Database other(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
                        other.exec("PRAGMA journal_mode = WAL; CREATE TABLE places (url); PRAGMA user_version = 77");
                      }},
        OpenErrorCase{"of_an_earlier_schema", Kind::other_schema,
                      [](const std::filesystem::path& file) {
                        SQLite::Database earlier(file.string(), SQLite::OPEN_READWRITE);
                        earlier.exec("PRAGMA user_version = " + std::to_string(schema_version - 1));
                      },
                      fmt::format("{} {}", schema_version - 1, schema_version)},
        OpenErrorCase{"of_a_later_schema", Kind::other_schema,
                      [](const std::filesystem::path& file) {
                        SQLite::Database later(file.string(), SQLite::OPEN_READWRITE);
                        later.exec("PRAGMA user_version = " + std::to_string(schema_version + 1));
                      },
                      fmt::format("{} {}", schema_version + 1, schema_version)},
        OpenErrorCase{
            "overwritten", Kind::damaged,  // all pages except the header
            [](const std::filesystem::path& file) { overwrite(file, 4096, std::filesystem::file_size(file) - 4096); }},
        OpenErrorCase{"one_page_overwritten", Kind::damaged,
                      [](const std::filesystem::path& file) {
                        overwrite(file, std::filesystem::file_size(file) / 2048 * 1024, 1024);
                      }},
        OpenErrorCase{"cut_short", Kind::damaged,
                      [](const std::filesystem::path& file) {
                        std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
                      }}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(FileErrors, empty_file_can_be_written_but_not_read) {
  std::ofstream(folder / "a.attnscope").flush();
  EXPECT_EQ(storage_error_of([&] { RunStore::open(folder / "a.attnscope", Mode::read_only); }).kind(),
            Kind::not_a_database);
  EXPECT_EQ(RunStore::open(folder / "a.attnscope", Mode::collect).runs().size(), 0U);
}

TEST_F(FileErrors, second_concurrent_collector_is_rejected) {
  {
    const RunStore first = RunStore::open(file, Mode::collect);
    std::filesystem::create_symlink(file, folder / "alias.attnscope");
    for (const auto& name : {file, folder / "alias.attnscope"}) {
      const FileError error = storage_error_of([&] { RunStore::open(name, Mode::collect); });
      EXPECT_EQ(error.kind(), Kind::locked) << error.what();
    }
    EXPECT_NO_THROW(RunStore::open(file, Mode::read_only));
    EXPECT_EQ(storage_error_of([&] { RunStore::open(file, Mode::collect); }).kind(), Kind::locked)
        << "neither a refused collector nor a reader may free the lock";
  }
  EXPECT_NO_THROW(RunStore::open(file, Mode::collect));
  EXPECT_FALSE(std::filesystem::exists(file.string() + "-lock"));
}

TEST_F(FileErrors, no_such_folder) {
  const FileError error = storage_error_of([&] { RunStore::open(folder / "no/a.attnscope", Mode::collect); });
  EXPECT_EQ(error.kind(), Kind::not_writable);
  EXPECT_THAT(error.what(), HasSubstr(std::strerror(ENOENT)));
}

TEST_F(FileErrors, not_writable) {
  write_run(file, std::vector<PointRecord>(1, full_record()));
  std::filesystem::permissions(file, std::filesystem::perms(0444));
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);  // root may write anywhere
    ::_exit(storage_error_of([&] { RunStore::open(file, Mode::collect); }).kind() == Kind::not_writable ? 0 : 1);
  }
  EXPECT_EQ(exit_code(child), 0);
}

TEST_F(FileErrors, full_disk_keeps_committed_points) {
  // The child cannot write files beyond 2 MiB; it reports the number of points stored before the disk was full.
  int results[2];
  ASSERT_EQ(::pipe(results), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2 << 20, 2 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::size_t kept = 0;
    const FileError error = storage_error_of([&] {
      RunStore store = RunStore::open(file, Mode::collect);
      const std::int64_t run = store.begin_run(full_header());
      for (; kept < 100'000; ++kept) store.add_point(run, kept, full_record());
    });
    const bool written = ::write(results[1], &kept, sizeof kept) == sizeof kept;
    ::_exit(written && error.kind() == Kind::disk_full ? 0 : 1);
  }
  EXPECT_EQ(exit_code(child), 0);
  std::size_t kept = 0;
  ASSERT_EQ(::read(results[0], &kept, sizeof kept), static_cast<ssize_t>(sizeof kept));
  EXPECT_GT(kept, 10U);
  EXPECT_EQ(RunStore::open(file, Mode::read_only).points().size(), kept);
  RunStore store = RunStore::open(file, Mode::collect);
  EXPECT_EQ(places_of(store, reopened_run(store)).size(), kept);
}

TEST_F(FileErrors, exhausted_descriptors_are_reported) {
  if (test::sanitized()) GTEST_SKIP() << "the undefined-behavior sanitizer needs a file descriptor of its own";
  for (int left = 0; left < 6; ++left) {
    const TemporaryFolder fresh;
    const auto name = fresh / "a.attnscope";
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{64, 64};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      while (::dup(0) >= 0) {
      }
      for (int i = 0; i < left; ++i) ::close(63 - i);
      std::string what;
      try {
        (void)RunStore::open(name, Mode::collect);
      } catch (const FileError& error) {
        what = error.what();
      }
      const bool enough = what.empty() && left > 0;
      ::_exit(enough || what.find("open files") != std::string::npos ? 0 : 1);
    }
    EXPECT_EQ(exit_code(child), 0) << left << " descriptors are left";
  }
}

TEST_F(FileErrors, full_disk_leaves_no_new_file) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const FileError error = storage_error_of([&] { RunStore::open(file, Mode::collect); });
    ::_exit(error.kind() == Kind::disk_full ? 0 : 1);
  }
  EXPECT_EQ(exit_code(child), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace attnscope::testing
