// SPDX-License-Identifier: Apache-2.0
// Schema 5 has room for what comes: older files move into it unchanged, what a later program wrote there is carried
// along, and what this program does not know is refused by name.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "storage/check.h"
#include "storage/merge.h"
#include "storage/migrations.h"
#include "storage/run_digests.h"
#include "storage/run_store.h"
#include "tests/storage/old_files.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Mode = RunStore::Mode;

class OlderFiles : public ::testing::TestWithParam<std::pair<int, const char*>> {};

TEST_P(OlderFiles, say_the_same_before_and_after_they_are_migrated) {
  const auto& [schema, sample] = GetParam();
  const TemporaryFolder folder;
  const fs::path file = folder / "a.attnscope";
  if (schema == 1) {
    write_version_1(file);
  } else {
    fs::copy_file(sample, file);
    fs::permissions(file, fs::perms::owner_all);
  }
  ASSERT_EQ(RunStore::open(file, Mode::read_only).schema_version(), schema);
  const std::string before = exported(file);
  EXPECT_EQ(RunStore::open(file, Mode::collect).schema_version(), newest_schema());
  EXPECT_TRUE(exported(file) == before);
  EXPECT_TRUE(check_file(file).ok());
}

INSTANTIATE_TEST_SUITE_P(Schemas, OlderFiles,
                         ::testing::Values(std::pair(1, ""), std::pair(2, ATTNSCOPE_SAMPLE_OF_0_1),
                                           std::pair(3, ATTNSCOPE_SAMPLE_OF_SCHEMA_3),
                                           std::pair(4, ATTNSCOPE_SAMPLE_OF_SCHEMA_4)));

void alter(const fs::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA foreign_keys = ON; " + sql);
}

void write_run(const fs::path& file, const std::string& uid = {}, std::size_t first = 0) {
  RunStore store = RunStore::open(file, Mode::collect);
  RunHeader header = full_header();
  header.uid = uid;
  const std::int64_t run = store.begin_run(header);
  store.add_point(run, first, full_record());
  store.add_point(run, first + 1, simple_record(64));
  store.finish_run(run, StoredRunState::complete);
}

void sign(const fs::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  sign_run(database, 1);
}

/// As a later program may: a row in each table of the newest schema, and in each that no program has written yet.
void fill(const fs::path& file) {
  write_run(file);
  {
    RunStore store = RunStore::open(file, Mode::collect);
    PointRecord shared = simple_record(32);
    shared.spec.problem.gpus = 2;
    shared.others = {"GPU-8"};
    store.add_point(1, 2, shared);
    RunHeader other = full_header();
    other.device.uuid = "GPU-9";  // of nothing but its ceilings, then of nothing but its noise
    (void)store.add_ceilings(other.device, other.environment,
                             std::vector<Ceiling>{{.name = "dram_copy", .value = 4e12, .unit = "byte/s"}});
    (void)store.add_noise(
        other.device, other.environment,
        {.recordings = 6, .rounds = 10, .points = {{"fa2 fp16", {.ns = 1e5, .variance = 1e-5, .freedom = 5}}}});
  }
  alter(file, R"sql(
UPDATE runs SET name = 'n', note = 'why', hidden = 1, edited_at = '2026-01-01T00:00:00Z';
INSERT INTO run_tags VALUES (1, 'tag');
INSERT INTO run_shards VALUES (1, 1, 2), (1, 2, 2);
INSERT INTO rounds VALUES (1, 0, 3, 1.5e9), (2, 0, 4, NULL);
)sql");
  sign(file);
}

/// By table, its rows; ids are left out, which a joined file may give anew.
std::map<std::string, std::vector<std::string>> rows_of(const fs::path& file) {
  SQLite::Database database(file.string());
  std::map<std::string, std::vector<std::string>> rows;
  SQLite::Statement tables(
      database,
      "SELECT name, (SELECT group_concat('quote(' || name || ')', ' || '','' || ') FROM "
      "pragma_table_info(t.name) WHERE name NOT IN ('id', 'metric_id')) FROM pragma_table_list t WHERE "
      "schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'");
  while (tables.executeStep()) {
    std::vector<std::string>& of_table = rows[tables.getColumn(0).getString()];
    SQLite::Statement query(database, fmt::format("SELECT {} AS row FROM {} ORDER BY row",
                                                  tables.getColumn(1).getString(), tables.getColumn(0).getString()));
    while (query.executeStep()) of_table.push_back(query.getColumn(0).getString());
  }
  return rows;
}

TEST(Room, what_a_later_program_wrote_is_carried_along) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a.attnscope";
  fill(file);
  ASSERT_TRUE(check_file(file).ok());
  const auto before = rows_of(file);
  for (const auto& [table, rows] : before) {
    EXPECT_EQ(rows.empty(), table == "run_edits") << table << ": a row of every table that is written is to be carried";
  }
  (void)merge_files({file}, folder / "merged.attnscope");
  (void)write_compact_copy({file}, folder / "copy.attnscope");
  for (const char* name : {"merged.attnscope", "copy.attnscope"}) {
    const auto after = rows_of(folder / name);
    for (const auto& [table, rows] : before) {
      EXPECT_EQ(after.at(table), rows) << name << ' ' << table;
    }
    EXPECT_TRUE(check_file(folder / name).ok()) << name;
  }
}

TEST(Room, shards_of_a_plan_come_together_and_belong_to_the_runs_digest) {
  const TemporaryFolder folder;
  const std::vector<fs::path> files{folder / "1.attnscope", folder / "2.attnscope"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    write_run(files[i], "uid", 2 * i);
    alter(files[i], fmt::format("INSERT INTO run_shards VALUES (1, {}, 3)", i + 1));
    EXPECT_FALSE(check_file(files[i]).ok()) << "nobody signed that";
    sign(files[i]);
    EXPECT_TRUE(check_file(files[i]).ok());
  }
  const fs::path merged = folder / "merged.attnscope";
  const JoinReport report = merge_files(files, merged);
  ASSERT_EQ(report.missing.size(), 1U);
  EXPECT_THAT(text(report.missing[0]), HasSubstr("shards 3"));
  EXPECT_THAT(rows_of(merged).at("run_shards"), ElementsAre("1,1,3", "1,2,3"));
  EXPECT_EQ(RunStore::open(merged, Mode::read_only).runs().at(0).points, 4U);
  EXPECT_TRUE(check_file(merged).ok());
}

TEST(Room, the_later_edit_of_a_run_is_known_when_copies_of_it_are_joined) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    const fs::path file = folder / (std::string(name) + ".attnscope");
    write_run(file, "uid");
    alter(file, fmt::format("UPDATE runs SET name = '{0}', edited_at = '2026-01-0{1}'; INSERT INTO run_tags VALUES (1, "
                            "'{0}')",
                            name, name[0] == 'a' ? 2 : 1));
  }
  (void)merge_files({folder / "b.attnscope", folder / "a.attnscope"}, folder / "c.attnscope");
  SQLite::Database merged((folder / "c.attnscope").string());
  EXPECT_EQ(merged.execAndGet("SELECT edited_at FROM runs").getString(), "2026-01-02");
  EXPECT_EQ(merged.execAndGet("SELECT name FROM runs").getString(), "a") << "not the last of the alphabet";
  EXPECT_THAT(rows_of(folder / "c.attnscope").at("run_tags"), ElementsAre("1,'a'")) << "b was taken away";
}

TEST(Room, a_text_that_one_file_kept_stays_when_another_did_not) {
  const TemporaryFolder folder;
  const fs::path without = folder / "without.attnscope";
  const fs::path with = folder / "with.attnscope";
  for (const fs::path& file : {without, with}) fill(file);
  alter(without, "UPDATE statement_sources SET content = NULL");
  for (const auto& files : {std::vector{without, with}, std::vector{with, without}}) {
    const fs::path merged = folder / (files.front().stem().string() + "-first.attnscope");
    (void)merge_files(files, merged);
    EXPECT_EQ(rows_of(merged).at("statement_sources"), rows_of(with).at("statement_sources"));
    EXPECT_TRUE(check_file(merged).ok());
  }
}

// A column's CHECK says nothing of a word that comes later. A reader that does not know it names the point.
TEST(Room, a_dtype_of_later_is_no_damage_of_the_file) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a.attnscope";
  write_run(file);
  alter(file, "UPDATE points SET dtype = 'fp4' WHERE id = 2");
  const RunStore store = RunStore::open(file, Mode::read_only);
  EXPECT_EQ(store.points().size(), 1U);
  EXPECT_THAT(text(store.bad_rows().at(0).why), HasSubstr("fp4"));
}

TEST(Room, a_point_of_several_gpus_keeps_which_they_were_and_says_what_a_reader_has_to_know) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a.attnscope";
  PointRecord shared = simple_record(64);
  shared.spec.problem.gpus = 3;
  shared.spec.problem.gpu_order = GpuOrder::zigzag;
  shared.others = {"GPU-second", "GPU-third"};
  {
    RunStore store = RunStore::open(file, Mode::collect);
    const std::int64_t run = store.begin_run(full_header());
    store.add_point(run, 0, shared);
    store.finish_run(run, StoredRunState::complete);
  }
  EXPECT_THAT(rows_of(file).at("needs"), ElementsAre("'gpus'"));
  const fs::path merged = folder / "merged.attnscope";
  (void)merge_files({file}, merged);
  for (const fs::path& each : {file, merged}) {
    EXPECT_THAT(rows_of(each).at("needs"), ElementsAre("'gpus'"));
    EXPECT_TRUE(check_file(each).ok());
    const auto points = RunStore::open(each, Mode::read_only).points();
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].record.spec, shared.spec);
    EXPECT_EQ(points[0].record.others, shared.others);
  }
  for (const char* change : {"UPDATE points SET gpus = 2", "UPDATE points SET gpu_order = 'striped'",
                             "DELETE FROM point_devices WHERE place = 2"}) {
    const fs::path damaged = folder / "damaged.attnscope";
    fs::copy_file(file, damaged, fs::copy_options::overwrite_existing);
    alter(damaged, change);
    EXPECT_FALSE(check_file(damaged).ok()) << change;
  }
}

TEST(Room, what_has_to_be_known_and_is_not_is_named_and_nothing_is_read_or_written) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a.attnscope";
  const fs::path target = folder / "b.attnscope";
  write_run(file);
  alter(file, "INSERT INTO needs VALUES ('processes'), ('fp8')");
  const std::vector<std::function<void()>> actions{
      [&] { (void)RunStore::open(file, Mode::read_only); },
      [&] { (void)RunStore::open(file, Mode::collect); },
      [&] { (void)check_file(file); },
      [&] { (void)merge_files({file}, target, Damaged::leave_out); },
      [&] { (void)write_compact_copy({file}, target); },
  };
  for (const auto& action : actions) {
    const StorageError error = storage_error_of(action);
    EXPECT_EQ(error.kind(), StorageError::Kind::newer_schema);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("a.attnscope"), HasSubstr("fp8, processes"), HasSubstr("newer attnscope")));
    EXPECT_FALSE(fs::exists(target));
  }
  EXPECT_EQ(rows_of(file).at("points").size(), 2U);
}

}  // namespace
}  // namespace attnscope::testing
