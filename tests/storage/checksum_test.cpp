// SPDX-License-Identifier: Apache-2.0
// Damage that SQLite does not detect: changed or missing values and rows are reported.
#include "storage/checksum.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "storage/merge.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using Mode = RunStore::Mode;
using Checksum = FileTest;

void write_runs(const std::filesystem::path& file) {
  RunHeader header = full_header();
  for (const char* device : {"GPU-1", "GPU-2"}) {
    header.device.uuid = device;
    write_run(file, {simple_record(64), full_record(), simple_record(66)}, StoredRunState::complete, header);
  }
  (void)RunStore::open(file, Mode::collect)
      .add_ceilings(header.device, header.environment,
                    std::vector<Ceiling>{{.name = "dram_copy", .value = 4e12, .q1 = 3e12, .q3 = 5e12, .unit = "byte/s"},
                                         {.name = "l2_shared_miss", .argument = 1e6, .value = 0.5, .unit = "1"}});
}

/// Returns true if checking the file reports an error.
bool reports_damage(const std::filesystem::path& file) {
  try {
    return !check_file(file).ok();
  } catch (const FileError&) {
    return true;
  }
}

struct ColumnName {
  std::string table;
  std::string name;
  bool key = false;
};

std::vector<ColumnName> columns_of(SQLite::Database& database) {
  std::vector<ColumnName> columns;
  SQLite::Statement query(
      database,
      "SELECT t.name, c.name, c.pk > 0 FROM pragma_table_list t JOIN pragma_table_info(t.name) c WHERE "
      "t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'");
  while (query.executeStep()) {
    columns.push_back(
        {query.getColumn(0).getString(), query.getColumn(1).getString(), query.getColumn(2).getInt() != 0});
  }
  return columns;
}

TEST_F(Checksum, detects_every_changed_value) {
  const auto whole = folder / "whole.attnscope";
  write_runs(whole);
  ASSERT_TRUE(check_file(whole).ok());
  // Columns outside of the checksum: texts and flags that users edit, and row ids.
  const std::set<std::string> free{"runs.name",    "runs.note",      "runs.hidden",
                                   "runs.deleted", "runs.edited_at", "totals.id"};
  SQLite::Database source(whole.string());
  std::size_t changed = 0;
  for (const ColumnName& column : columns_of(source)) {
    if (free.contains(column.table + "." + column.name)) continue;
    std::filesystem::copy_file(whole, file, std::filesystem::copy_options::overwrite_existing);
    int rows = 0;
    {
      SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
      database.exec("PRAGMA ignore_check_constraints = ON");
      SQLite::Statement update(
          database,
          fmt::format("UPDATE {0} SET {1} = CASE typeof({1}) WHEN 'integer' THEN {1} + 1000 WHEN 'real' THEN {1} "
                      "* 1.25 + 1 WHEN 'blob' THEN CAST({1} || 'x' AS BLOB) ELSE replace(replace({1}, ']', ' ]'), 'a', "
                      "'b') || 'x' END WHERE {1} IN (SELECT "
                      "max({1}) FROM {0})",
                      column.table, column.name));
      rows = update.exec();
    }
    if (rows == 0) continue;  // the test data has no rows there
    ++changed;
    EXPECT_TRUE(reports_damage(file)) << column.table << '.' << column.name;
  }
  EXPECT_GT(changed, 100U);
}

TEST_F(Checksum, detects_every_missing_row) {
  const auto whole = folder / "whole.attnscope";
  write_runs(whole);
  std::set<std::string> tables;
  SQLite::Database source(whole.string());
  for (const ColumnName& column : columns_of(source)) tables.insert(column.table);
  std::size_t removed = 0;
  for (const std::string& table : tables) {
    std::filesystem::copy_file(whole, file, std::filesystem::copy_options::overwrite_existing);
    int rows = 0;
    {
      SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
      const bool keyed = database.execAndGet("SELECT wr FROM pragma_table_list WHERE name = '" + table + "'").getInt();
      database.exec("PRAGMA foreign_keys = OFF");
      rows = database.exec(keyed ? fmt::format("DELETE FROM {} WHERE true", table)
                                 : fmt::format("DELETE FROM {0} WHERE rowid = (SELECT max(rowid) FROM {0})", table));
    }
    if (rows == 0) continue;
    ++removed;
    EXPECT_TRUE(reports_damage(file)) << table;
  }
  EXPECT_GE(removed, 13U);
}

TEST_F(Checksum, counts_orphaned_rows_per_table) {
  write_runs(file);
  int values = 0;
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    values = database.execAndGet("SELECT count(*) FROM metric_values WHERE kernel_id = 1").getInt();
    database.exec("PRAGMA foreign_keys = OFF; DELETE FROM kernels WHERE id = 1");
  }
  ASSERT_GT(values, 1);
  std::vector<std::string> damage;
  for (const Message& found : check_file(file).damage) damage.push_back(text(found));
  EXPECT_THAT(damage, ::testing::Contains(test::HasWords(fmt::format("{} metric_values kernels", values))));
}

TEST_F(Checksum, is_updated_by_a_collector) {
  PointRecord cancelled = simple_record(64);
  cancelled.disposition = Disposition::cancelled;
  write_run(file, {simple_record(64), cancelled}, StoredRunState::cancelled);
  {
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = reopened_run(store);
    store.add_point(run, 1, full_record());
    EXPECT_TRUE(check_file(file).ok()) << "while it is being written";
    const FileError twice = storage_error_of([&] { store.add_point(run, 1, full_record()); });
    EXPECT_TRUE(check_file(file).ok()) << "a point that is refused is not counted: " << twice.what();
    store.add_point(run, 2, full_record());
  }  // the run stays open, as after a kill
  RunStore::open(file, Mode::collect)
      .add_complete_runs({{CompleteRun{full_header(), {simple_record(8), full_record()}}}});
  const FileCheck check = check_file(file);
  EXPECT_TRUE(check.ok());
  EXPECT_EQ(check.points, 5U);
  EXPECT_EQ(check.unverified, 1U);
}

TEST_F(Checksum, damaged_run_is_returned_and_reported) {
  write_runs(file);
  change_rows(file, "UPDATE metric_values SET value = value + 1 WHERE kernel_id = 1");
  const RunStore store = RunStore::open(file, Mode::read_only);
  EXPECT_EQ(store.points().size(), 6U);
  EXPECT_EQ(store.runs().at(0).integrity, RunIntegrity::damaged);
  EXPECT_EQ(store.runs().at(1).integrity, RunIntegrity::verified);
  ASSERT_EQ(store.invalid_rows().size(), 1U);
  EXPECT_THAT(text(store.invalid_rows()[0].where), HasSubstr("run 1"));
  EXPECT_THAT(text(store.invalid_rows()[0].why), HasSubstr("checksum"));
  EXPECT_EQ(storage_error_of([&] { write_compact_copy({file}, folder / "other.attnscope"); }).kind(),
            FileError::Kind::damaged);
}

TEST_F(Checksum, detects_a_value_moved_to_another_point) {
  write_runs(file);
  change_rows(file, "UPDATE clocks SET point_id = 1 WHERE point_id = 2 AND round = 0");
  EXPECT_FALSE(check_file(file).ok());
}

TEST_F(Checksum, finished_run_without_checksum_is_damaged) {
  write_runs(file);
  change_rows(file, "UPDATE runs SET checksum = NULL WHERE id = 2");
  EXPECT_FALSE(check_file(file).ok());
}

TEST_F(Checksum, ignores_ids_and_annotations) {
  write_runs(file);
  {
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = 2;
    store.edit({&run, 1}, {.name = "b", .note = "c", .tag = {"d"}, .untag = {}, .hidden = true, .deleted = {}});
  }
  EXPECT_TRUE(check_file(file).ok());
  write_compact_copy({file}, folder / "copy.attnscope");
  EXPECT_TRUE(check_file(folder / "copy.attnscope").ok());
  const char* const checksums = "SELECT group_concat(checksum) FROM (SELECT checksum FROM runs ORDER BY uid)";
  EXPECT_EQ(SQLite::Database(file.string()).execAndGet(checksums).getString(),
            SQLite::Database((folder / "copy.attnscope").string()).execAndGet(checksums).getString());
}

TEST(Digest, IsWrittenAsHexadecimalDigits) {
  const Digest digest{.high = 1, .low = 2};
  EXPECT_EQ(to_string(digest), "00000000000000010000000000000002");
}

}  // namespace
}  // namespace attnscope::testing
