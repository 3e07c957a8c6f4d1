// SPDX-License-Identifier: Apache-2.0
// Invalid rows are skipped and reported, and valid rows are returned. Schemas that would execute code are rejected
// before anything is read.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <list>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/metrics/rounds.h"
#include "profiler/plan/text.h"
#include "storage/bounds.h"
#include "storage/database.h"
#include "storage/exchange/import.h"
#include "storage/loaded_runs.h"
#include "storage/merge.h"
#include "storage/points_reader.h"
#include "storage/run_store.h"
#include "tests/message_matchers.h"
#include "tests/storage/store_test.h"

namespace attnscope::testing {
namespace {

using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = FileError::Kind;
using Mode = RunStore::Mode;

/// Writes two runs on two devices: points 1 to 3, and 4.
void write_two_runs(const std::filesystem::path& file) {
  write_run(file, {simple_record(64), full_record(), simple_record(64)});
  RunHeader header = full_header();
  header.device.uuid = "GPU-other";
  header.environment.app_version = "other";
  write_run(file, {simple_record(128)}, StoredRunState::complete, header);
}

struct Damage {
  const char* sql;
  std::vector<std::int64_t> left;  ///< ids of the points that are still returned
  const char* where;
  const char* why;
};

std::ostream& operator<<(std::ostream& out, const Damage& damage) {
  return out << damage.sql;
}

class DamagedRows : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedRows, are_reported_and_skipped) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_two_runs(file);
  ASSERT_GE(change_rows(file, GetParam().sql), 1);
  const RunStore store = RunStore::open(file, Mode::read_only);
  (void)store.runs();
  std::vector<std::int64_t> left;
  for (const StoredPoint& point : store.points()) left.push_back(point.id);
  EXPECT_EQ(left, GetParam().left);
  const std::vector<InvalidRow> bad = store.invalid_rows();
  const auto named = std::ranges::find_if(
      bad, [](const InvalidRow& row) { return test::has_words(text(row.where), GetParam().where); });
  ASSERT_NE(named, bad.end());
  EXPECT_THAT(text(named->why), HasWords(GetParam().why));
}

TEST(DamagedFiles, FirstDamageIsThatOfTheFirstFile) {
  const TemporaryFolder folder;
  const auto first = folder / "first.attnscope";
  const auto second = folder / "second.attnscope";
  for (const auto& file : {first, second}) {
    write_run(file, {simple_record(64), simple_record(128)});
    ASSERT_EQ(change_rows(file, "UPDATE points SET d = 0 WHERE id = 1"), 1);
  }
  const std::vector<RunSource> sources{{first}, {second}};
  const LoadedRuns loaded = load_runs(sources);
  EXPECT_GE(loaded.damaged_rows, 2U);
  EXPECT_THAT(text(loaded.first_damage), HasSubstr("first.attnscope"));
}

const std::vector<std::int64_t> without_second{1, 3, 4};
const std::vector<std::int64_t> second_run{4};
const std::vector<std::int64_t> first_run{1, 2, 3};

INSTANTIATE_TEST_SUITE_P(
    Points, DamagedRows,
    ::testing::Values(
        Damage{"UPDATE points SET d = 0 WHERE id = 2", without_second, "point 2 1 1", "d 0"},
        Damage{"UPDATE points SET bc = 0 WHERE id = 2", without_second, "point 2", "bc 0"},
        Damage{"UPDATE points SET br = 4294967360 WHERE id = 2", without_second, "point 2", "4294967360"},
        Damage{"UPDATE points SET n_q = -7 WHERE id = 2", without_second, "point 2", "n_q -7"},
        Damage{"UPDATE points SET heads_q = 15 WHERE id = 2", without_second, "point 2", "heads_q 15"},
        Damage{"UPDATE points SET batch = 500000000000000 WHERE id = 2", without_second, "point 2",
               "batch 500000000000000"},
        Damage{"UPDATE points SET mask = 'sliding' WHERE id = 2", without_second, "point 2", "sliding"},
        Damage{"UPDATE points SET disposition = 'fine' WHERE id = 2", without_second, "point 2", "fine"},
        Damage{"UPDATE points SET provenance = 'modeled' WHERE id = 2", without_second, "point 2", "modeled"},
        Damage{"UPDATE points SET reason = CAST(x'61ff62' AS TEXT) WHERE id = 2", without_second, "point 2",
               "reason UTF-8"},
        Damage{"UPDATE points SET reason = CAST(x'610062' AS TEXT) WHERE id = 2", without_second, "point 2",
               "reason UTF-8"},
        Damage{"UPDATE points SET wall_seconds = 9e999 WHERE id = 2", without_second, "point 2", "wall_seconds inf"},
        Damage{"UPDATE points SET rms_error = -1.0 WHERE id = 2", without_second, "point 2", "rms_error -1"},
        Damage{"UPDATE points SET plan_index = 3000000000 WHERE id = 2", without_second, "point 2", "plan_index"},
        Damage{"UPDATE points SET device_id = 99 WHERE id = 2", without_second, "point 2", "uuid"},
        Damage{"UPDATE points SET run_id = 99 WHERE id = 2", without_second, "point 2", "run 99"}));

INSTANTIATE_TEST_SUITE_P(
    PartialResults, DamagedRows,
    ::testing::Values(
        Damage{"UPDATE metric_values SET value = 9e999 WHERE kernel_id = 3 AND metric_id = 3", without_second,
               "point 2", "inf"},
        Damage{"UPDATE metric_values SET metric_id = 99 WHERE kernel_id = 3 AND metric_id = 3", without_second,
               "point 2", "metric 99"},
        Damage{"UPDATE timing_samples SET samples_ns = '[1e308,1e308]' WHERE kernel_id = 3", without_second, "point 2",
               "1e+308"},
        Damage{"UPDATE timing_samples SET samples_ns = '[1,null]' WHERE kernel_id = 3", without_second, "point 2",
               "JSON"},
        Damage{"UPDATE timing_samples SET samples_ns = '[1e999]' WHERE kernel_id = 3", without_second, "point 2",
               "JSON"},
        Damage{
            "UPDATE timing_samples SET samples_ns = '[1' || replace(hex(zeroblob(1000000)), '00', ',1') || ']' WHERE "
            "kernel_id = 3",
            without_second, "point 2", "800000"},
        Damage{"UPDATE launches SET defines = '[' || replace(hex(zeroblob(4200000)), '00', '\"\", ') || '\"\"]' WHERE "
               "kernel_id = 3",
               without_second, "point 2", "defines 16 MiB"},
        Damage{"UPDATE point_knobs SET value = 1000000000000 WHERE name = 'warps'", without_second, "point 2", "warps"},
        Damage{"UPDATE clocks SET power_w = -1.0", without_second, "point 2", "power_w -1"},
        Damage{"UPDATE clocks SET throttled = 7", without_second, "point 2", "throttled 0 1"},
        Damage{"UPDATE launches SET grid = '[1,-1,1]' WHERE kernel_id = 3", without_second, "point 2", "grid"},
        Damage{"UPDATE launches SET grid = '[]' WHERE kernel_id = 3", without_second, "point 2", "JSON"},
        Damage{"UPDATE launches SET threads = -1 WHERE kernel_id = 3", without_second, "point 2", "threads -1"}));

const std::vector<std::int64_t> all{1, 2, 3, 4};

// Points stay valid if their kernel's manifest is damaged.
INSTANTIATE_TEST_SUITE_P(
    StoredManifests, DamagedRows,
    ::testing::Values(
        Damage{"UPDATE user_kernels SET text = text || ' '", all, "kernel manifest 1", "checksum"},
        Damage{"UPDATE user_kernels SET host_code = 0", all, "kernel manifest 1", "checksum"},
        Damage{"UPDATE user_kernels SET host_code = 7", all, "kernel manifest 1", "host_code 0 1"},
        Damage{"UPDATE user_kernels SET text = CAST(x'61ff62' AS TEXT)", all, "kernel manifest 1", "text UTF-8"},
        Damage{"UPDATE user_kernels SET text = hex(zeroblob(600000))", all, "kernel manifest 1", "1200000"},
        Damage{"UPDATE user_kernel_sources SET digest = 'cc' WHERE name = 'my.cu'", all, "kernel manifest 1",
               "checksum"},
        Damage{"UPDATE user_kernel_sources SET name = '' WHERE name = 'my.cu'", all, "kernel manifest 1", "source"},
        Damage{"DELETE FROM user_kernel_sources WHERE name = 'my.cu'", all, "kernel manifest 1", "checksum"},
        Damage{
            "INSERT INTO user_kernel_sources WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
            "10001) SELECT 1, 'f' || i, '', NULL FROM n",
            all, "kernel manifest 1", "10003"},
        Damage{"UPDATE user_kernels SET algorithm = 'fa2'", without_second, "point 2", "manifest"},
        Damage{"UPDATE user_kernels SET digest = digest || 'x'", all, "kernel manifest 1", "checksum"},
        Damage{"UPDATE points SET user_kernel_id = NULL WHERE id = 2", all, "run 1", "checksum"},
        Damage{"UPDATE points SET user_kernel_id = 1 WHERE id = 1", {2, 3, 4}, "point 1", "manifest"},
        Damage{"UPDATE points SET user_kernel_id = 9 WHERE id = 2", without_second, "point 2", "9"}));

INSTANTIATE_TEST_SUITE_P(
    Runs, DamagedRows,
    ::testing::Values(
        Damage{"UPDATE runs SET options = json_set(options, '$.max_noise', null) WHERE id = 1", second_run, "run 1",
               "JSON"},
        Damage{"UPDATE runs SET options = json_set(options, '$.timeout_ms', -9223372036854775807 - 1) WHERE id = 1",
               second_run, "run 1", "timeout_ms"},
        Damage{"UPDATE runs SET argv = '[1]' WHERE id = 1", second_run, "run 1", "JSON"},
        Damage{"UPDATE runs SET state = 'lost' WHERE id = 1", second_run, "run 1", "lost"},
        Damage{"UPDATE runs SET planned_points = -1 WHERE id = 1", second_run, "run 1", "planned_points"},
        Damage{"UPDATE runs SET environment_id = 99 WHERE id = 2", first_run, "run 2", "app_version"},
        Damage{"UPDATE devices SET sm_count = -1 WHERE id = 1", second_run, "run 1", "sm_count -1"},
        Damage{"UPDATE devices SET sm_count = 4294967297 WHERE id = 1", second_run, "run 1", "sm_count"},
        Damage{"UPDATE devices SET dram_bytes_per_second = 9e999 WHERE id = 1", second_run, "run 1", "inf"}));

TEST(DamagedRows, out_of_bounds_rows_are_not_written) {
  const TemporaryFolder folder;
  RunStore store = RunStore::open(folder / "a.attnscope", Mode::collect);
  RunHeader header = full_header();
  const std::int64_t run = store.begin_run(header);
  PointRecord record = simple_record(64);
  record.kernels[0].samples_ns = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(storage_error_of([&] { store.add_point(run, 0, record); }).what(), HasWords("nan"));
  const PointRecord storable = make_storable(record);
  EXPECT_EQ(storable.spec, record.spec);
  EXPECT_EQ(storable.disposition, Disposition::crashed);
  EXPECT_THAT(text(storable.reason), HasWords("nan"));
  EXPECT_EQ(make_storable(simple_record(64)).disposition, Disposition::ok);
  header.options.max_noise = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(storage_error_of([&] { store.begin_run(header); }).what(), HasWords("max_noise nan"));
  EXPECT_EQ(store.points().size(), 0U);
  EXPECT_EQ(store.runs().size(), 1U);
  EXPECT_TRUE(store.invalid_rows().empty());
}

TEST(DamagedRows, bounds_are_inclusive) {
  for (const auto& [rounds, good] : {std::pair(0, false), {1, true}, {max_rounds, true}, {max_rounds + 1, false}}) {
    EXPECT_EQ(round_count_error(rounds).empty(), good) << rounds;
    EXPECT_EQ(round_index_error(rounds - 1).empty(), good) << rounds;
  }
  for (const double sign : {1, -1}) {
    EXPECT_TRUE(bounds_error(MetricValue{"m", sign * max_value, "byte"}).empty());
    EXPECT_FALSE(bounds_error(MetricValue{"m", sign * 2 * max_value, "byte"}).empty());
    EXPECT_FALSE(bounds_error(MetricValue{"m", sign * 2 * max_time_ns, "ns"}).empty());
  }
  PointRecord record = simple_record(64);
  for (const auto& [celsius, good] : {std::pair(-20.0, true), {90.0, true}, {-1e7, false}, {1e7, false}}) {
    record.clocks = ClockReading{.temperature_c = celsius};
    EXPECT_EQ(bounds_error(record).empty(), good) << celsius;
  }
}

/// Returns the error of a file with two kernels of one point with these times.
std::string import_error_of(const std::string& first, const std::string& second) {
  const std::string header = "algorithm,kernel,N,heads,d,time_ns\n";
  const auto row = [](const char* kernel, const std::string& time) {
    return std::string("a,") + kernel + ",64,1,64," + time + "\n";
  };
  const auto import = import_points(header + row("k1", first) + row("k2", second), ImportFormat::csv, {});
  return import.ok() ? std::string() : text(import.error());
}

TEST(ImportBounds, out_of_bounds_values_are_not_imported) {
  EXPECT_THAT(import_error_of("1e308", "1e308"), HasWords("line 2 1e+308"));
  EXPECT_THAT(import_error_of("1", "2e18"), HasWords("line 3"));
  EXPECT_THAT(import_error_of("9e17", "9e17"), HasSubstr("1.8e+18")) << "their sum is not in bounds either";
  EXPECT_EQ(import_error_of("1", "2"), "");
  const auto import =
      import_points("algorithm,N,heads,d,batch,time_ns\na,64,1,64,500000000000000,1\n", ImportFormat::csv, {});
  ASSERT_FALSE(import.ok());
  EXPECT_THAT(text(import.error()), HasWords("line 2"));
}

struct SchemaChange {
  const char* sql;
  const char* words;
};

std::ostream& operator<<(std::ostream& out, const SchemaChange& change) {
  return out << change.sql;
}

class ModifiedSchema : public ::testing::TestWithParam<SchemaChange> {};

TEST_P(ModifiedSchema, is_rejected_by_readers_and_collectors) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_run(file, {full_record(), simple_record(64)});
  change_rows(file, GetParam().sql);
  for (const Mode mode : {Mode::read_only, Mode::collect}) {
    const FileError error = storage_error_of([&] { (void)RunStore::open(file, mode).points(); });
    EXPECT_EQ(error.kind(), Kind::foreign) << error.what();
    EXPECT_THAT(error.what(), HasWords(GetParam().words));
  }
  SQLite::Database database(file.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM kernels").getInt(), 5) << "no statement of the file is executed";
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, ModifiedSchema,
    ::testing::Values(
        // Renaming also changes the tables that refer to points.
        SchemaChange{"ALTER TABLE points RENAME TO p; CREATE VIEW points AS SELECT * FROM p", "table"},
        SchemaChange{
            "DROP VIEW v_points; CREATE VIEW v_points AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
            "FROM n) SELECT i FROM n",
            "view v_points"},
        SchemaChange{"DROP VIEW v_runs; CREATE TABLE v_runs (x)", "v_runs"},
        SchemaChange{"ALTER TABLE clocks ADD COLUMN note TEXT", "table clocks"},
        SchemaChange{"DROP INDEX runs_by_plan", "index runs_by_plan"},
        SchemaChange{"DROP INDEX runs_by_plan; CREATE INDEX runs_by_plan ON runs (abs(id))", "index runs_by_plan"},
        SchemaChange{"CREATE INDEX mine ON points (d)", "index mine"},
        SchemaChange{"DROP TABLE run_tags", "table run_tags"},
        // The comment extends over the next column.
        SchemaChange{
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'equal plans' || char(10), "
            "'equal plans ') WHERE name = 'runs'",
            "table runs"},
        SchemaChange{"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM points; END", "trigger t"},
        SchemaChange{"CREATE TRIGGER t INSTEAD OF UPDATE ON v_points BEGIN DELETE FROM points; END", "trigger t"},
        SchemaChange{"CREATE TABLE notes (text)", "table notes"},
        SchemaChange{"CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
                     "i FROM n",
                     "view endless"}));

/// Adds rows without the schema's checks, numbered from 1 in column i.
void add_rows(const std::filesystem::path& file, int rows, const std::string& insert_into, const std::string& values) {
  change_rows(file, "INSERT INTO " + insert_into + " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n " +
                        "WHERE i < " + std::to_string(rows) + ") SELECT " + values + " FROM n");
}

struct TooManyRows {
  int rows;
  const char* table;
  const char* values;  ///< columns of row i, which refers to kernel or point 1
};

std::ostream& operator<<(std::ostream& out, const TooManyRows& rows) {
  return out << rows.table;
}

class PointsOfManyRows : public ::testing::TestWithParam<TooManyRows> {};

TEST_P(PointsOfManyRows, are_skipped_and_the_rest_is_read) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_run(file, {simple_record(1), simple_record(2), simple_record(3)}, StoredRunState::interrupted);
  change_rows(file, "UPDATE runs SET checksum = NULL");
  add_rows(file, GetParam().rows, GetParam().table, GetParam().values);
  const RunStore store = RunStore::open(file, Mode::read_only);
  std::vector<std::int64_t> left;
  for (const StoredPoint& point : store.points()) left.push_back(point.record.spec.problem.n_q);
  EXPECT_THAT(left, ElementsAre(2, 3));
  ASSERT_EQ(store.invalid_rows().size(), 1U);
  EXPECT_EQ(store.invalid_rows()[0].point, 1);
  EXPECT_THAT(text(store.invalid_rows()[0].why), HasSubstr(std::to_string(ReadLimits().point_values)));
  EXPECT_FALSE(store.point(1).has_value());
}

INSTANTIATE_TEST_SUITE_P(Tables, PointsOfManyRows,
                         ::testing::Values(TooManyRows{130'000, "metric_values", "1, 1, i, 0, 'measured'"},
                                           TooManyRows{130'000, "timing_samples", "1, i, '[]'"},
                                           TooManyRows{400'000, "clocks", "1, i, 0, 0, 0, 0, 0, 0"},
                                           TooManyRows{250'000, "kernels (point_id, name, occupancy_limiter)",
                                                       "1, 'k' || i, ''"},
                                           TooManyRows{1'000'000, "point_knobs", "1, 'k' || i, 0"},
                                           TooManyRows{1'000'000, "point_devices", "1, i, 1"}));

/// Reads all points of a file in one piece.
struct PieceReader {
  explicit PieceReader(const std::filesystem::path& file, const ReadLimits& limits)
      : database(file.string()),
        reader([this](std::string_view sql) -> SQLite::Statement& { return prepare(sql); }, runs, limits) {}
  SQLite::Statement& prepare(std::string_view sql) {
    std::string text(sql);
    if (const std::size_t condition = text.find("{}"); condition != std::string::npos) {
      text.replace(condition, 2, "p.id BETWEEN " + range);
    }
    return statements.emplace_back(database, text);
  }
  SQLite::Database database;
  std::list<SQLite::Statement> statements;
  std::string range;
  RunIds runs{.good = {1}, .bad = {}};
  PointsReader reader;
};

TEST(ReadLimits, apply_to_a_point) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  PointRecord sampled = simple_record(4);
  sampled.kernels[0].samples_ns.assign(1000, 5.0);
  write_run(file, {simple_record(1), simple_record(2), simple_record(3), sampled});
  const auto read = [&](const char* range, const ReadLimits& limits) {
    PieceReader piece(file, limits);
    piece.range = range;
    auto points = piece.reader.read();
    return std::pair{points ? static_cast<int>(points->size()) : -1, piece.reader.invalid_rows().size()};
  };
  const ReadLimits most;
  EXPECT_EQ(read("1 AND 4", most), std::pair(4, 0UL));
  ReadLimits few_samples = most;
  few_samples.point_samples = 100;
  EXPECT_EQ(read("1 AND 4", few_samples), std::pair(-1, 0UL)) << "to be read in smaller pieces";
  EXPECT_EQ(read("4 AND 4", few_samples), std::pair(0, 1UL));
  EXPECT_EQ(read("1 AND 3", few_samples), std::pair(3, 0UL));
}

// A collector must not write what readers skip.
TEST(ReadLimits, apply_to_writers) {
  PointRecord large = simple_record(64);
  for (std::size_t i = 0; i < ReadLimits().point_values; ++i) {
    large.kernels[0].metrics.push_back({std::to_string(i), 1, "1", Provenance::measured});
  }
  EXPECT_FALSE(bounds_error(large).empty());
  large.kernels[0].metrics.resize(100);
  EXPECT_TRUE(bounds_error(large).empty());
}

TEST(Text, control_characters_are_escaped) {
  EXPECT_EQ(printable("fa2 \xc3\xbc \xe2\x80\xa6"), "fa2 \xc3\xbc \xe2\x80\xa6");
  EXPECT_EQ(printable("\x1b[2J\a\n\x7f"), "\\x1b[2J\\x07\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\u009b1m");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"),
            "a\\u202eb\\u2066");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xef\xbf\xbe\xef\xbf\xbd"),
            "\\ufffe\xef\xbf\xbd");  // a noncharacter, and the replacement character
}

}  // namespace
}  // namespace attnscope::testing
