// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/output_file.h"
#include "storage/database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/plan/fields.h"
#include "storage/run_store.h"
#include "tests/storage/samples.h"

namespace attnscope::testing {
namespace {

TEST(Schema, has_a_column_for_every_field_of_a_point) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE);
  create_schema(database);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), schema_version);
  EXPECT_EQ(database.execAndGet("PRAGMA application_id").getInt(), application_id);
  for (const Field& field : point_fields()) {
    SQLite::Statement column(database, "SELECT count(*) FROM pragma_table_info('points') WHERE name = ?");
    column.bind(1, std::string(field.name));
    column.executeStep();
    EXPECT_EQ(column.getColumn(0).getInt(), 1) << field.name;
  }
}

/// Returns the FNV-1a hash of the identities of a file's points.
std::uint64_t identities_of(const char* file) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const StoredPoint& point : RunStore::open(file, RunStore::Mode::read_only).points()) {
    for (const char c : canonical_text(point.record.spec) + "\n") {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
  }
  return hash;
}

// Identities decide which problems are held out of fits; if they changed, published errors would be in-sample.
TEST(Samples, identities_are_stable) {
  EXPECT_EQ(identities_of(ATTNSCOPE_SAMPLE), 13516064894059681565ULL);
  EXPECT_EQ(identities_of(ATTNSCOPE_SECOND_SAMPLE), 1744289126059905825ULL);
  EXPECT_EQ(identities_of(ATTNSCOPE_LAW_SAMPLE), 4800425945201381056ULL);
}

}  // namespace
}  // namespace attnscope::testing
