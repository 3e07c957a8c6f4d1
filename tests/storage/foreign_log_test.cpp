// SPDX-License-Identifier: Apache-2.0
// A log of another file is named and not read; the log of a killed collector is replayed.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Mode = RunStore::Mode;
using Lengths = std::vector<std::int64_t>;

/// Copies the file and its log, as a killed collector leaves them.
void copy_with_log(const fs::path& from, const fs::path& to) {
  for (const char* suffix : {"", "-wal"}) fs::copy_file(from.string() + suffix, to.string() + suffix);
}

/// Writes points of these lengths to one run and leaves file and log as after a kill. `before`: lengths that are in the
/// file itself.
void write_killed(const fs::path& file, const Lengths& lengths, const Lengths& before = {},
                  const RunHeader& header = full_header()) {
  const fs::path open = file.string() + ".open";
  {
    RunStore store = RunStore::open(open, Mode::collect);
    const std::int64_t run = store.begin_run(header);
    std::size_t place = 0;
    for (const std::int64_t n : before) store.add_point(run, place++, simple_record(n));
    if (!before.empty()) {
      store.finish_run(run, StoredRunState::cancelled);  // writes the log back
      store.reopen_run(run);
    }
    for (const std::int64_t n : lengths) store.add_point(run, place++, simple_record(n));
    copy_with_log(open, file);
  }
  fs::remove(open);
}

struct LogCase {
  const char* name;
  /// Writes the file and its log.
  void (*write)(const fs::path& file);
  Lengths lengths;              ///< N of the points to read
  const char* suffix = "-wal";  ///< of the log
};

std::ostream& operator<<(std::ostream& out, const LogCase& log) {
  return out << log.name;
}

class ForeignLogs : public ::testing::TestWithParam<LogCase> {
 protected:
  void SetUp() override {
    GetParam().write(file_);
    log_ = file_.string() + GetParam().suffix;
    before_ = contents();
    ASSERT_GT(fs::file_size(log_), 0U);
  }
  [[nodiscard]] std::vector<std::string> contents() const { return {content(file_), content(log_)}; }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "a.attnscope";
  fs::path log_;
  std::vector<std::string> before_;
};

TEST_P(ForeignLogs, are_named_and_not_read) {
  for (int time = 0; time < 2; ++time) {
    const RunStore store = RunStore::open(file_, Mode::read_only);
    EXPECT_THAT(lengths_in(file_), GetParam().lengths);
    ASSERT_EQ(store.warnings().size(), 1U);
    EXPECT_THAT(text(store.warnings()[0]), HasSubstr(log_.string()));
    EXPECT_TRUE(store.invalid_rows().empty());
  }
  const FileCheck check = check_file(file_);
  EXPECT_TRUE(check.ok());
  EXPECT_EQ(check.points, GetParam().lengths.size());
  EXPECT_EQ(check.warnings.size(), 1U);
  EXPECT_TRUE(contents() == before_) << "a reader changed a file";
}

TEST_P(ForeignLogs, stop_writers_before_they_change_anything) {
  EXPECT_THAT(storage_error_of([&] { RunStore::open(file_, Mode::collect); }).what(), HasSubstr(log_.string()));
  write_run(folder_ / "other.attnscope", {simple_record(8)});
  EXPECT_THAT(storage_error_of([&] { write_compact_copy({folder_ / "other.attnscope"}, file_); }).what(),
              HasSubstr(log_.string()));
  EXPECT_TRUE(contents() == before_) << "a writer changed a file";
  fs::rename(log_, folder_ / "kept");
  write_run(file_, {simple_record(8)});
  Lengths more = GetParam().lengths;
  more.push_back(8);
  EXPECT_THAT(lengths_in(file_), more);
}

TEST_P(ForeignLogs, are_not_merged_or_copied) {
  const MergeReport merged = merge_files({file_}, folder_ / "all.attnscope");
  EXPECT_THAT(lengths_in(folder_ / "all.attnscope"), GetParam().lengths);
  ASSERT_EQ(merged.not_copied.size(), 1U);
  EXPECT_THAT(text(merged.not_copied[0]), HasSubstr(log_.string()));
  write_compact_copy({file_}, folder_ / "copy.attnscope");
  EXPECT_THAT(lengths_in(folder_ / "copy.attnscope"), GetParam().lengths);
  EXPECT_TRUE(contents() == before_);
}

void replace_keeping_log(const fs::path& file, const std::function<void(const fs::path&)>& write) {
  const fs::path other = file.string() + ".new";
  write(other);
  fs::rename(other, file);
}

INSTANTIATE_TEST_SUITE_P(
    Files, ForeignLogs,
    ::testing::Values(
        LogCase{"of_a_whole_file",
                [](const fs::path& file) {
                  write_killed(file, {1, 2, 3});
                  replace_keeping_log(file, [](const fs::path& name) { write_run(name, {simple_record(64)}); });
                },
                {64}},
        LogCase{"of_the_end_of_a_file",
                [](const fs::path& file) {
                  write_killed(file, {4, 5}, {1, 2, 3});
                  replace_keeping_log(file, [](const fs::path& name) {
                    write_run(name, {simple_record(64), simple_record(128)});
                  });
                },
                {64, 128}},
        LogCase{"beside_a_larger_file",
                [](const fs::path& file) {
                  write_killed(file, {1});
                  replace_keeping_log(
                      file, [](const fs::path& name) { write_run(name, std::vector<PointRecord>(40, full_record())); });
                },
                Lengths(40, full_record().spec.problem.n_q)},
        LogCase{"beside_an_interrupted_run",
                [](const fs::path& file) {
                  write_killed(file, {4, 5}, {1, 2, 3});
                  replace_keeping_log(file, [](const fs::path& name) {
                    write_run(name, {simple_record(64), simple_record(128)}, StoredRunState::interrupted);
                  });
                },
                {64, 128}},
        // The run was resumed and finished elsewhere, and copied back.
        LogCase{"of_an_earlier_state",
                [](const fs::path& file) {
                  write_killed(file, {1, 2});
                  replace_keeping_log(file, [&](const fs::path& name) {
                    copy_with_log(file, name);
                    RunStore store = RunStore::open(name, Mode::collect);
                    const std::int64_t run = reopened_run(store);
                    store.add_point(run, 2, simple_record(3));
                    store.finish_run(run, StoredRunState::complete);
                  });
                },
                {1, 2, 3}},
        LogCase{"rollback_journal",
                [](const fs::path& file) {
                  const fs::path other = file.string() + ".other";
                  write_run(other, {simple_record(1), simple_record(2)});
                  {
                    SQLite::Database database(other.string(), SQLite::OPEN_READWRITE);
                    database.exec(
                        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; UPDATE points SET d = 1");
                    database.exec("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))");
                    fs::copy_file(other.string() + "-journal", file.string() + "-journal");
                  }
                  fs::remove(other);
                  write_run(file.string() + ".new", {simple_record(64)});
                  fs::rename(file.string() + ".new", file);
                },
                {64},
                "-journal"}),
    [](const auto& of) { return std::string(of.param.name); });

class LogsOfKilledCollectors : public ::testing::TestWithParam<LogCase> {};

TEST_P(LogsOfKilledCollectors, are_replayed) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a.attnscope";
  GetParam().write(file);
  {
    const RunStore store = RunStore::open(file, Mode::read_only);
    EXPECT_TRUE(store.warnings().empty()) << text(store.warnings()[0]);
    EXPECT_THAT(lengths_in(file), GetParam().lengths);
  }
  EXPECT_TRUE(check_file(file).ok());
  { const RunStore store = RunStore::open(file, Mode::collect); }
  EXPECT_FALSE(fs::exists(file.string() + "-wal"));
  EXPECT_THAT(lengths_in(file), GetParam().lengths);
}

INSTANTIATE_TEST_SUITE_P(
    Files, LogsOfKilledCollectors,
    ::testing::Values(
        LogCase{"without_points", [](const fs::path& file) { write_killed(file, {}); }, {}},
        LogCase{"first_points",
                [](const fs::path& file) {
                  write_killed(file, {1, 2});
                },
                {1, 2}},
        LogCase{"resumed_run",
                [](const fs::path& file) {
                  write_killed(file, {3}, {1, 2});
                },
                {1, 2, 3}},
        LogCase{"reopened_run",
                [](const fs::path& file) {
                  write_killed(file, {}, {1, 2});
                },
                {1, 2}},
        LogCase{"replaced_points",
                [](const fs::path& file) {
                  const fs::path open = file.string() + ".open";
                  RunStore store = RunStore::open(open, Mode::collect);
                  const std::int64_t run = store.begin_run(full_header());
                  for (std::size_t i = 0; i < 2; ++i) store.add_point(run, i, full_record());
                  store.finish_run(run, StoredRunState::cancelled);
                  store.reopen_run(run);
                  const DeviceInfo device = full_header().device;
                  store.add_point(run, 1, simple_record(7), &device);  // fewer values
                  copy_with_log(open, file);
                },
                {full_record().spec.problem.n_q, 7}},
        LogCase{"edit",
                [](const fs::path& file) {
                  const fs::path open = file.string() + ".open";
                  write_run(open, {simple_record(1)});
                  SQLite::Database database(open.string(), SQLite::OPEN_READWRITE);
                  database.exec("UPDATE runs SET hidden = 1, edited_at = '2026-01-01T00:00:00Z'");
                  copy_with_log(open, file);
                },
                {1}},
        // Killed while the log was written back: some pages of the file are new.
        LogCase{"half_written_back",
                [](const fs::path& file) {
                  write_killed(file, {3, 4}, {1, 2});
                  const fs::path whole = file.string() + ".whole";
                  copy_with_log(file, whole);
                  { SQLite::Database(whole.string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)"); }
                  const std::string pages = content(whole);
                  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
                  constexpr std::size_t page = 1024;
                  for (std::size_t at = page; at + page <= pages.size(); at += 2 * page) {
                    out.seekp(static_cast<std::streamoff>(at));
                    out.write(pages.data() + at, page);
                  }
                },
                {1, 2, 3, 4}},
        LogCase{"torn_last_write",
                [](const fs::path& file) {
                  write_killed(file, {3, 4}, {1, 2});
                  std::ofstream(file.string() + "-wal", std::ios::app | std::ios::binary) << std::string(700, 'x');
                },
                {1, 2, 3, 4}}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace attnscope::testing
