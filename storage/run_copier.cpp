// SPDX-License-Identifier: Apache-2.0
#include "storage/run_copier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "profiler/metrics/metrics.h"
#include "storage/migrations.h"
#include "storage/rows.h"

namespace attnscope {
namespace {

constexpr int statements_since = 3;  // schema; ceilings as well

/// What the sources name, by name. `seen`: when a run or a point last said that the device is so.
std::string temporary_tables() {
  return fmt::format(R"sql(
CREATE TEMP TABLE met_devices (uuid TEXT PRIMARY KEY, seen TEXT NOT NULL, simulated, ordinal, {limits}) WITHOUT ROWID;
CREATE TEMP TABLE met_environments ({environment}, PRIMARY KEY ({environment})) WITHOUT ROWID;
CREATE TEMP TABLE met_metrics (name, unit, PRIMARY KEY (name, unit)) WITHOUT ROWID;
CREATE TEMP TABLE met_statements (digest TEXT PRIMARY KEY, algorithm, text, host_code) WITHOUT ROWID;
CREATE TEMP TABLE met_uses (digest, run, PRIMARY KEY (digest, run)) WITHOUT ROWID;
CREATE TEMP TABLE left_out (run TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP TABLE device_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE environment_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE metric_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE statement_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE set_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE wanted (target INTEGER PRIMARY KEY, id INTEGER NOT NULL);
CREATE TEMP TABLE chosen (target INTEGER PRIMARY KEY, id INTEGER NOT NULL, run INTEGER NOT NULL);
CREATE TEMP TABLE chosen_kernels (target INTEGER PRIMARY KEY, id INTEGER NOT NULL, point INTEGER NOT NULL);
)sql",
                     fmt::arg("limits", limit_columns), fmt::arg("environment", environment_columns));
}

std::string meeting(int version) {
  // Before points had a device, they were of their run's.
  const std::string points =
      version >= statements_since
          ? "SELECT device_id, recorded_at FROM source.points"
          : "SELECT r.device_id, p.recorded_at FROM source.points p JOIN source.runs r ON r.id = p.run_id";
  std::string sql =
      fmt::format(R"sql(
INSERT INTO met_devices (uuid, seen, simulated, ordinal, {limits})
  SELECT d.uuid, coalesce(s.seen, ''), d.simulated, d.ordinal, {source_limits}
  FROM source.devices d LEFT JOIN (
    SELECT device_id, max(seen) AS seen FROM (
      SELECT device_id, started_at AS seen FROM source.runs UNION ALL
      SELECT device_id, max(recorded_at) FROM ({points}) GROUP BY device_id) GROUP BY device_id) s
  ON s.device_id = d.id WHERE true
  ON CONFLICT (uuid) DO UPDATE SET seen = excluded.seen, simulated = excluded.simulated, ordinal = excluded.ordinal,
    {assign_limits}
  WHERE (excluded.seen, excluded.ordinal, excluded.simulated, {new_limits}) >
        (met_devices.seen, met_devices.ordinal, met_devices.simulated, {old_limits});
INSERT OR IGNORE INTO met_environments ({environment}) SELECT {environment} FROM source.environments;
INSERT OR IGNORE INTO met_metrics SELECT name, unit FROM source.metrics;
)sql",
                  fmt::arg("limits", limit_columns), fmt::arg("source_limits", qualified("d", limit_columns)),
                  fmt::arg("assign_limits", assignments(limit_columns)),
                  fmt::arg("new_limits", qualified("excluded", limit_columns)),
                  fmt::arg("old_limits", qualified("met_devices", limit_columns)),
                  fmt::arg("environment", environment_columns), fmt::arg("points", points));
  if (version >= statements_since) {
    sql += fmt::format(R"sql(
INSERT OR IGNORE INTO met_statements SELECT digest, algorithm, text, {} FROM source.statements;
INSERT OR IGNORE INTO met_uses SELECT DISTINCT s.digest, r.uid FROM source.points p
  JOIN source.runs r ON r.id = p.run_id JOIN source.statements s ON s.id = p.statement_id;
)sql",
                       version >= room_since ? "host_code" : "0");
  }
  return sql;
}

std::string names() {
  return fmt::format(R"sql(
INSERT INTO devices (uuid, simulated, ordinal, {limits})
  SELECT uuid, simulated, ordinal, {limits} FROM met_devices ORDER BY uuid;
INSERT INTO environments ({environment}) SELECT {environment} FROM met_environments ORDER BY {environment};
INSERT INTO statements (digest, algorithm, text, host_code)
  SELECT digest, algorithm, text, host_code FROM met_statements WHERE digest NOT IN (
    SELECT digest FROM met_uses GROUP BY digest HAVING min(run IN (SELECT run FROM left_out)) = 1) ORDER BY digest;
)sql",
                     fmt::arg("limits", limit_columns), fmt::arg("environment", environment_columns));
}

std::string translation() {
  return fmt::format(R"sql(
INSERT INTO device_of SELECT s.id, d.id FROM source.devices s JOIN main.devices d ON d.uuid = s.uuid;
INSERT INTO environment_of SELECT s.id, e.id FROM source.environments s
  JOIN main.environments e ON ({main_environment}) = ({source_environment});
INSERT INTO metric_of SELECT s.id, m.id FROM source.metrics s JOIN main.metrics m ON m.name = s.name AND m.unit = s.unit;
INSERT INTO statement_of SELECT s.id, m.id FROM source.statements s JOIN main.statements m ON m.digest = s.digest;
)sql",
                     fmt::arg("main_environment", qualified("e", environment_columns)),
                     fmt::arg("source_environment", qualified("s", environment_columns)));
}

constexpr const char* forgotten_translation =
    "DELETE FROM device_of; DELETE FROM environment_of; DELETE FROM metric_of; DELETE FROM statement_of;";

// By the table that is referred to: which of its rows in the target stands for one of the source's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> translated{{{"devices", "device_of"},
                                                                                   {"environments", "environment_of"},
                                                                                   {"metrics", "metric_of"},
                                                                                   {"statements", "statement_of"},
                                                                                   {"ceiling_sets", "set_of"},
                                                                                   {"noise_sets", "set_of"}}};

/// Columns that are not copied: what they are instead, or nothing where the table gives them.
using Instead = std::map<std::string, std::string>;

/// The table's rows q that `from` names, with every column that the table has, also those that nobody writes yet; what
/// they refer to is translated.
std::string rows_of(SQLite::Database& database, const std::string& table, std::string_view from, const Instead& instead,
                    std::string_view insert = "INSERT") {
  std::string columns;
  std::string values;
  std::string joins;
  SQLite::Statement column(database,
                           "SELECT c.name, c.\"notnull\", coalesce(f.\"table\", '') FROM pragma_table_info(?1) c LEFT "
                           "JOIN pragma_foreign_key_list(?1) f ON f.\"from\" = c.name ORDER BY c.cid");
  column.bind(1, table);
  while (column.executeStep()) {
    const std::string name = column.getColumn(0).getString();
    std::string value = "q." + name;
    const auto map =
        std::ranges::find(translated, column.getColumn(2).getString(), [](const auto& m) { return m.first; });
    if (const auto other = instead.find(name); other != instead.end()) {
      if (other->second.empty()) continue;
      value = other->second;
    } else if (map != translated.end()) {
      joins += fmt::format(" {0} {1} of_{2} ON of_{2}.source = q.{2}",
                           column.getColumn(1).getInt() != 0 ? "JOIN" : "LEFT JOIN", map->second, name);
      value = fmt::format("of_{}.target", name);
    }
    columns += (columns.empty() ? "" : ", ") + name;
    values += (values.empty() ? "" : ", ") + value;
  }
  return fmt::format("{} INTO {} ({}) SELECT {} FROM {}{};\n", insert, table, columns, values, from, joins);
}

/// The rows that belong to those of `parent` which are chosen by `chosen`, of every table but `left_out`, in the order
/// of the target's keys, so that every page is filled once.
std::string rows_below(SQLite::Database& database, std::string_view parent, std::string_view chosen,
                       std::string_view left_out, std::string_view insert = "INSERT") {
  std::vector<std::pair<std::string, std::string>> tables;  // and the column that refers to `parent`
  {
    SQLite::Statement found(
        database,
        "SELECT t.name, f.\"from\" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE "
        "t.type = 'table' AND f.\"table\" = ? ORDER BY t.name");
    found.bind(1, std::string(parent));
    while (found.executeStep()) tables.emplace_back(found.getColumn(0).getString(), found.getColumn(1).getString());
  }
  std::string sql;
  for (const auto& [table, key] : tables) {
    if (table == left_out) continue;
    sql += rows_of(database, table, fmt::format("{0} c CROSS JOIN source.{1} q ON q.{2} = c.id", chosen, table, key),
                   {{key, "c.target"}}, insert);
  }
  return sql;
}

std::string run_children(SQLite::Database& database) {
  return rows_below(database, "runs", "wanted", "points", "INSERT OR IGNORE");
}

std::string chosen_runs(SQLite::Database& database) {
  // Nobody is at the copy of a run that somebody is at. Runs are signed when all is there.
  return rows_of(database, "runs", "wanted c CROSS JOIN source.runs q ON q.id = c.id",
                 {{"id", "c.target"},
                  {"state", "iif(q.state = 'running', 'interrupted', q.state)"},
                  {"finished_at", "coalesce(q.finished_at, q.started_at)"},
                  {"digest", ""}}) +
         run_children(database);
}

std::string chosen_points(SQLite::Database& database) {
  return rows_of(database, "points", "chosen c CROSS JOIN source.points q ON q.id = c.id",
                 {{"id", "c.target"}, {"run_id", "c.run"}}) +
         rows_below(database, "points", "chosen", "kernels") + R"sql(
INSERT INTO chosen_kernels
  SELECT (SELECT coalesce(max(id), 0) FROM main.kernels) + row_number() OVER (ORDER BY c.target, k.id), k.id, c.target
  FROM chosen c CROSS JOIN source.kernels k ON k.point_id = c.id;
)sql" +
         rows_of(database, "kernels", "chosen_kernels c CROSS JOIN source.kernels q ON q.id = c.id",
                 {{"id", "c.target"}, {"point_id", "c.point"}}) +
         rows_below(database, "kernels", "chosen_kernels", "") + "DELETE FROM chosen_kernels; DELETE FROM chosen;";
}

/// What belongs to no run: sets, which are the same wherever their uid is, and the sources of statements. One source
/// may have kept a text that another did not.
std::string rows_beside_runs(SQLite::Database& database) {
  std::string sql;
  for (const auto& [sets, rows] : {std::pair("ceiling_sets", "ceilings"), std::pair("noise_sets", "noise")}) {
    sql += rows_of(database, sets, fmt::format("(SELECT * FROM source.{} ORDER BY uid) q", sets), {{"id", ""}},
                   "INSERT OR IGNORE");
    sql +=
        fmt::format("INSERT INTO set_of SELECT s.id, m.id FROM source.{0} s JOIN main.{0} m ON m.uid = s.uid;\n", sets);
    sql += rows_of(database, rows, fmt::format("source.{} q", rows), {}, "INSERT OR IGNORE") + "DELETE FROM set_of;";
  }
  return sql + R"sql(
INSERT INTO statement_sources (statement_id, name, digest, content)
  SELECT s.target, q.name, q.digest, q.content FROM source.statement_sources q
  JOIN statement_of s ON s.source = q.statement_id WHERE true
  ON CONFLICT (statement_id, name) DO UPDATE SET content = coalesce(content, excluded.content);
)sql";
}

void attach_source(SQLite::Database& database, const std::string& uri) {
  SQLite::Statement attach(database, "ATTACH ? AS source");
  attach.bind(1, uri);
  attach.exec();
}

void in_transaction(SQLite::Database& database, const std::string& sql) {
  SQLite::Transaction transaction(database);
  database.exec(sql);
  transaction.commit();
}

/// As the program lists metrics, then others by name.
void write_metrics(SQLite::Database& database) {
  std::vector<std::tuple<std::size_t, std::string, std::string>> found;
  {
    SQLite::Statement query(database, "SELECT name, unit FROM met_metrics");
    while (query.executeStep()) {
      std::string name = query.getColumn(0).getString();
      const auto known = std::ranges::find(metrics_table(), name, &Metric::key);
      const auto rank = static_cast<std::size_t>(known - metrics_table().begin());
      found.emplace_back(rank, std::move(name), query.getColumn(1).getString());
    }
  }
  std::ranges::sort(found);
  SQLite::Statement insert(database, "INSERT INTO metrics (name, unit) VALUES (?, ?)");
  for (const auto& [rank, name, unit] : found) {
    insert.bind(1, name);
    insert.bind(2, unit);
    insert.exec();
    insert.reset();
  }
}

}  // namespace

RunCopier::RunCopier(SQLite::Database& target) : target_(target) {
  target_.exec("PRAGMA foreign_keys = OFF");  // the sources were checked, and order is by key, not by reference
  target_.exec("PRAGMA temp_store = MEMORY");
  target_.exec(temporary_tables());
  run_rows_ = chosen_runs(target_);
  run_child_rows_ = run_children(target_);
  point_rows_ = chosen_points(target_);
}

bool RunCopier::meet(const std::string& uri, int version) {
  attach_source(target_, uri);
  in_transaction(target_, meeting(version));
  std::string beside = version >= statements_since ? "EXISTS (SELECT 1 FROM source.ceiling_sets)" : "0";
  for (const char* table : {"noise_sets", "statement_sources"}) {
    if (version >= room_since) beside += fmt::format(" OR EXISTS (SELECT 1 FROM source.{})", table);
  }
  const bool has_more = target_.execAndGet("SELECT " + beside).getInt() != 0;
  target_.exec("DETACH source");
  return has_more;
}

void RunCopier::write_names(const std::set<std::string>& left_out) {
  SQLite::Transaction transaction(target_);
  SQLite::Statement insert(target_, "INSERT INTO left_out (run) VALUES (?)");
  for (const std::string& run : left_out) {
    insert.bind(1, run);
    insert.exec();
    insert.reset();
  }
  target_.exec(names());
  write_metrics(target_);
  transaction.commit();
}

void RunCopier::attach(const std::string& uri) {
  attach_source(target_, uri);
  in_transaction(target_, translation());
}

void RunCopier::detach() {
  target_.exec("DETACH source");
  target_.exec(forgotten_translation);
}

void RunCopier::want(std::span<const IdPair> runs) {
  target_.exec("DELETE FROM wanted");
  SQLite::Statement insert(target_, "INSERT INTO wanted (target, id) VALUES (?, ?)");
  for (const IdPair& run : runs) {
    insert.bind(1, run.target);
    insert.bind(2, run.source);
    insert.exec();
    insert.reset();
  }
}

void RunCopier::copy_runs(std::span<const IdPair> runs) {
  SQLite::Transaction transaction(target_);
  want(runs);
  target_.exec(run_rows_);
  transaction.commit();
}

void RunCopier::copy_words_of_run(const IdPair& run) {
  SQLite::Transaction transaction(target_);
  want({&run, 1});
  target_.exec(run_child_rows_);
  transaction.commit();
}

void RunCopier::copy_points_of_runs(std::span<const IdPair> runs) {
  SQLite::Transaction transaction(target_);
  want(runs);
  target_.exec(
      fmt::format("INSERT INTO chosen SELECT {} + row_number() OVER (ORDER BY w.target, p.plan_index), p.id, "
                  "w.target FROM wanted w CROSS JOIN source.points p ON p.run_id = w.id",
                  next_point() - 1));
  target_.exec(point_rows_);
  transaction.commit();
}

void RunCopier::copy_points(std::span<const IdPair> points, std::int64_t target_run) {
  SQLite::Transaction transaction(target_);
  SQLite::Statement insert(target_, "INSERT INTO chosen (target, id, run) VALUES (?, ?, ?)");
  for (const IdPair& point : points) {
    insert.bind(1, point.target);
    insert.bind(2, point.source);
    insert.bind(3, target_run);
    insert.exec();
    insert.reset();
  }
  target_.exec(point_rows_);
  transaction.commit();
}

void RunCopier::copy_rows_beside_runs() {
  in_transaction(target_, rows_beside_runs(target_));
}

std::int64_t RunCopier::next_point() const {
  return target_.execAndGet("SELECT coalesce(max(id), 0) + 1 FROM points").getInt64();
}

}  // namespace attnscope
