// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/migrations.h"
#include "storage/points_reader.h"
#include "storage/run_digests.h"

namespace attnscope {
namespace {

/// The points behind `last`, as many as are read at once, that have no digest; the id of the last of them.
std::optional<std::int64_t> sign_some_points(SQLite::Database& database, const KnownRuns& known, std::int64_t last) {
  const std::int64_t end = database
                               .execAndGet(fmt::format("SELECT coalesce(max(id), 0) FROM (SELECT id FROM points WHERE "
                                                       "digest IS NULL AND id > {} ORDER BY id LIMIT 20000)",
                                                       last))
                               .getInt64();
  if (end == 0) return std::nullopt;
  std::map<std::string, SQLite::Statement> statements;
  const auto select = [&](std::string_view what) -> SQLite::Statement& {
    const std::string sql =
        fmt::format(fmt::runtime(what), fmt::format("p.digest IS NULL AND p.id > {} AND p.id <= {}", last, end));
    return statements.emplace(sql, SQLite::Statement(database, sql)).first->second;
  };
  PointsReader reader(select, newest_schema(), known);
  const std::vector<StoredPoint> points = reader.read();
  const auto digests = reader.digests();
  statements.clear();
  SQLite::Statement update(database, "UPDATE points SET digest = ? WHERE id = ?");
  for (const StoredPoint& point : points) {
    update.bind(1, to_string(digests.at(point.id)));
    update.bind(2, point.id);
    update.exec();
    update.reset();
  }
  return end;
}

void sign_points(SQLite::Database& database) {
  KnownRuns known;
  SQLite::Statement runs(database, "SELECT id, uid FROM runs");
  while (runs.executeStep()) {
    known.good[runs.getColumn(0).getInt64()] = {.uid = runs.getColumn(1).getString(), .written = {}};
  }
  for (std::optional<std::int64_t> last = 0; last;) last = sign_some_points(database, known, *last);
}

/// Of the rows that are not named in `left_out`.
std::vector<std::int64_t> ids_of(SQLite::Database& database, const std::string& select,
                                 const std::set<std::string>& left_out) {
  std::vector<std::int64_t> ids;
  SQLite::Statement query(database, select);
  while (query.executeStep()) {
    if (!left_out.contains(query.getColumn(1).getString())) ids.push_back(query.getColumn(0).getInt64());
  }
  return ids;
}

}  // namespace

void sign_rows(SQLite::Database& database, const UnsignedRows& left_out) {
  SQLite::Transaction transaction(database);
  sign_points(database);
  for (const std::int64_t device : ids_of(database, "SELECT id, uuid FROM devices", left_out.devices)) {
    sign_device(database, device);
  }
  for (const std::int64_t run : ids_of(database, "SELECT id, uid FROM runs", left_out.runs)) sign_run(database, run);
  count_points_anew(database);
  transaction.commit();
}

}  // namespace attnscope
