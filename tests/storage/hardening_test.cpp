// SPDX-License-Identifier: Apache-2.0
// Files that would run something: refused with one line, before anything of them is read or run.
#include "storage/database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/plan/text.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = FileError::Kind;
using Mode = RunStore::Mode;

void write_a_few_points(const std::filesystem::path& file) {
  RunStore store = RunStore::open(file, Mode::collect);
  const std::int64_t run = store.begin_run(full_header());
  store.add_point(run, 0, full_record());
  store.add_point(run, 1, simple_record(64));
  store.finish_run(run, StoredRunState::complete);
}

void change(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
}

struct Hostile {
  const char* sql;
  const char* says;
};

std::ostream& operator<<(std::ostream& out, const Hostile& hostile) {
  return out << hostile.sql;
}

class HostileSchema : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileSchema, is_refused_by_readers_and_collectors) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_a_few_points(file);
  change(file, GetParam().sql);
  for (const Mode mode : {Mode::read_only, Mode::collect}) {
    const FileError error = storage_error_of([&] { (void)RunStore::open(file, mode).points(); });
    EXPECT_EQ(error.kind(), Kind::foreign) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
  }
  SQLite::Database database(file.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM kernels").getInt(), 5) << "and nothing of it was run";
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, HostileSchema,
    ::testing::Values(
        Hostile{"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM points; END", "holds a trigger t"},
        Hostile{"CREATE TABLE x (y); CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM points; END", "trigger t"},
        Hostile{"ALTER TABLE points RENAME TO p; CREATE VIEW points AS SELECT * FROM p", "that is not ours"},
        Hostile{"DROP VIEW v_points; CREATE VIEW v_points AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                "FROM n) SELECT i FROM n",
                "has a view v_points that is not ours"},
        Hostile{"DROP VIEW v_runs; CREATE TABLE v_runs (x)", "has a table v_runs that is not ours"},
        Hostile{"ALTER TABLE clocks ADD COLUMN note TEXT", "has a table clocks that is not ours"},
        Hostile{"DROP INDEX runs_by_plan", "lacks our index runs_by_plan"},
        Hostile{"DROP INDEX runs_by_plan; CREATE INDEX runs_by_plan ON runs (abs(id))", "not ours"},
        Hostile{"CREATE INDEX mine ON points (d)", "has an index mine of its own on our table points"},
        Hostile{"DROP TABLE run_tags", "lacks our table run_tags"},
        // The comment goes on over the column that stood below it.
        Hostile{"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'equal plans' || char(10), "
                "'equal plans ') WHERE name = 'runs'",
                "has a table runs that is not ours"}));

TEST(Hardening, tables_and_views_of_a_person_are_left_alone_and_named) {
  const TemporaryFolder folder;
  const auto file = folder / "a.attnscope";
  write_a_few_points(file);
  change(file,
         "CREATE TABLE notes (text); CREATE INDEX by_text ON notes (text); CREATE VIEW slow AS SELECT * FROM points");
  const RunStore store = RunStore::open(file, Mode::read_only);
  EXPECT_EQ(store.points().size(), 2U);
  EXPECT_TRUE(store.bad_rows().empty());
  EXPECT_THAT(store.extras(), ElementsAre("table notes", "view slow"));
  RunStore::open(file, Mode::collect).begin_run(full_header());
  EXPECT_TRUE(check_file(file).ok());
  SQLite::Database database(file.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM notes").getInt(), 0) << "it is still there";
}

TEST(Text, that_steers_a_terminal_is_spelled_out) {
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
            "\\ufffe\xef\xbf\xbd");  // no character, and the one that stands for one
}

}  // namespace
}  // namespace attnscope::testing
