// SPDX-License-Identifier: Apache-2.0
#include "storage/run_digests.h"

#include <fmt/format.h>

#include <array>

#include "storage/migrations.h"
#include "storage/rows.h"

namespace attnscope {
namespace {

// What is hashed begins at column 2. Columns that say nothing of what was measured (a person's name and note for the
// run) are left out, and so are those that change with each point.
std::string device_rows(std::string_view condition) {
  return fmt::format("SELECT id, digest, uuid, simulated, ordinal, {} FROM devices{}", limit_columns, condition);
}

std::string run_rows(SQLite::Database& database, std::string_view condition) {
  constexpr std::string_view shards =
      "(SELECT group_concat(shard || '/' || shards) FROM (SELECT shard, shards FROM run_shards WHERE run_id = r.id "
      "ORDER BY shards, shard))";
  return fmt::format(
      "SELECT r.id, r.digest, r.uid, r.preset, r.argv, r.plan_hash, r.planned_points, r.options, r.state, "
      "r.started_at, "
      "r.finished_at, r.provenance, r.rounds, {} AS shards, d.uuid AS device, {} FROM runs r LEFT JOIN devices d ON "
      "d.id = "
      "r.device_id LEFT JOIN environments e ON e.id = r.environment_id{}",
      schema_of(database) < room_since ? "NULL" : shards, qualified("e", environment_columns), condition);
}

constexpr int first_hashed = 2;
constexpr std::array run_defaults{ColumnDefault{"rounds", 1}};

Digest digest_of_device(SQLite::Statement& row) {
  return digest_of_row("device", row, first_hashed);
}

Digest digest_of_run(SQLite::Statement& row) {
  return digest_of_row("run", row, first_hashed, run_defaults);
}

DigestState state_of(SQLite::Statement& row, const Digest& now) {
  const SQLite::Column stored = row.getColumn(1);
  if (stored.isNull()) return DigestState::absent;
  return parse_digest(stored.getString()) == now ? DigestState::equal : DigestState::differs;
}

void store_digest(SQLite::Database& database, const char* update, std::int64_t id, const Digest& digest) {
  SQLite::Statement statement(database, update);
  statement.bind(1, to_string(digest));
  statement.bind(2, id);
  statement.exec();
}

}  // namespace

std::unordered_map<std::int64_t, DigestState> device_digests(SQLite::Database& database) {
  std::unordered_map<std::int64_t, DigestState> states;
  SQLite::Statement row(database, device_rows(""));
  while (row.executeStep()) states[row.getColumn(0).getInt64()] = state_of(row, digest_of_device(row));
  return states;
}

std::unordered_map<std::int64_t, DigestState> run_digests(SQLite::Database& database) {
  std::unordered_map<std::int64_t, DigestState> states;
  SQLite::Statement row(database, run_rows(database, ""));
  while (row.executeStep()) states[row.getColumn(0).getInt64()] = state_of(row, digest_of_run(row));
  return states;
}

void sign_device(SQLite::Database& database, std::int64_t device) {
  Digest digest;
  {
    SQLite::Statement row(database, device_rows(" WHERE id = ?"));
    row.bind(1, device);
    if (!row.executeStep()) return;
    digest = digest_of_device(row);
  }
  store_digest(database, "UPDATE devices SET digest = ? WHERE id = ?", device, digest);
}

void sign_run(SQLite::Database& database, std::int64_t run) {
  Digest digest;
  {
    SQLite::Statement row(database, run_rows(database, " WHERE r.id = ?"));
    row.bind(1, run);
    if (!row.executeStep()) return;
    digest = digest_of_run(row);
  }
  store_digest(database, "UPDATE runs SET digest = ? WHERE id = ?", run, digest);
}

DigestState run_digest(SQLite::Database& database, std::int64_t run) {
  SQLite::Statement row(database, run_rows(database, " WHERE r.id = ?"));
  row.bind(1, run);
  return row.executeStep() ? state_of(row, digest_of_run(row)) : DigestState::absent;
}

void UnsignedRows::add(const UnsignedRows& other) {
  runs.insert(other.runs.begin(), other.runs.end());
  devices.insert(other.devices.begin(), other.devices.end());
}

UnsignedRows unsigned_rows(SQLite::Database& database) {
  UnsignedRows found;
  if (database.execAndGet("PRAGMA user_version").getInt() < digests_since) return found;
  const auto read = [&](const char* sql, std::set<std::string>& names) {
    SQLite::Statement rows(database, sql);
    while (rows.executeStep()) names.insert(rows.getColumn(0).getString());
  };
  read("SELECT uid FROM runs WHERE digest IS NULL", found.runs);
  read("SELECT uuid FROM devices WHERE digest IS NULL", found.devices);
  return found;
}

std::optional<WrittenPoints> written_points(SQLite::Database& database, std::int64_t run) {
  SQLite::Statement row(database, "SELECT point_count, points_digest FROM runs WHERE id = ?");
  row.bind(1, run);
  if (!row.executeStep()) return std::nullopt;
  const std::optional<Digest> sum = parse_digest(row.getColumn(1).getString());
  if (!sum) return std::nullopt;
  return WrittenPoints{.count = row.getColumn(0).getInt64(), .sum = *sum};
}

void set_written_points(SQLite::Database& database, std::int64_t run, const WrittenPoints& points) {
  SQLite::Statement update(database, "UPDATE runs SET point_count = ?, points_digest = ? WHERE id = ?");
  update.bind(1, points.count);
  update.bind(2, to_string(points.sum));
  update.bind(3, run);
  update.exec();
}

void count_points_anew(SQLite::Database& database) {
  std::unordered_map<std::int64_t, WrittenPoints> found;
  {
    SQLite::Statement runs(database, "SELECT id FROM runs");
    while (runs.executeStep()) found[runs.getColumn(0).getInt64()] = {};
    SQLite::Statement points(database, "SELECT run_id, digest FROM points");
    while (points.executeStep()) {
      WrittenPoints& of_run = found[points.getColumn(0).getInt64()];
      ++of_run.count;
      if (points.getColumn(1).isNull()) continue;
      of_run.sum += parse_digest(points.getColumn(1).getString()).value_or(Digest());
    }
  }
  for (const auto& [run, points] : found) set_written_points(database, run, points);
  database.exec("UPDATE totals SET runs = (SELECT count(*) FROM runs)");
}

}  // namespace attnscope
