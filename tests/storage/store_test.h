// SPDX-License-Identifier: Apache-2.0
// Helpers for tests of measurement files.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/storage/samples.h"

namespace attnscope::testing {

/// Temporary folder with the path of a file in it.
class FileTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.attnscope";
};

/// Adds a run of these points, from plan index 0. nullopt: the run stays open, as after a kill. Returns its id.
inline std::int64_t write_run(const std::filesystem::path& file, const std::vector<PointRecord>& points,
                              std::optional<StoredRunState> state = StoredRunState::complete,
                              const RunHeader& header = full_header()) {
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  const std::int64_t run = store.begin_run(header);
  for (std::size_t place = 0; place < points.size(); ++place) store.add_point(run, place, points[place]);
  if (state) store.finish_run(run, *state);
  return run;
}

/// Executes SQL on a closed file without the schema's checks. Returns the number of rows changed by the last statement.
inline int change_rows(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA ignore_check_constraints = ON");
  return database.exec(sql);
}

}  // namespace attnscope::testing
