// SPDX-License-Identifier: Apache-2.0
#include "storage/run_copier.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "profiler/metrics/metrics.h"
#include "storage/migrations.h"
#include "storage/point_rows.h"
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
CREATE TEMP TABLE met_statements (digest TEXT PRIMARY KEY, algorithm, text) WITHOUT ROWID;
CREATE TEMP TABLE device_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE environment_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE metric_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE statement_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
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
    sql += "INSERT OR IGNORE INTO met_statements SELECT digest, algorithm, text FROM source.statements;";
  }
  return sql;
}

std::string names() {
  return fmt::format(R"sql(
INSERT INTO devices (uuid, simulated, ordinal, {limits})
  SELECT uuid, simulated, ordinal, {limits} FROM met_devices ORDER BY uuid;
INSERT INTO environments ({environment}) SELECT {environment} FROM met_environments ORDER BY {environment};
INSERT INTO statements (digest, algorithm, text) SELECT digest, algorithm, text FROM met_statements ORDER BY digest;
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

// Nobody is at the copy of a run that somebody is at.
constexpr const char* copied_runs_sql = R"sql(
INSERT INTO runs (id, device_id, environment_id, preset, argv, plan_hash, planned_points, options, state, started_at,
                  finished_at, provenance, uid, rounds, name, note, hidden)
  SELECT w.target, d.target, e.target, r.preset, r.argv, r.plan_hash, r.planned_points, r.options,
         iif(r.state = 'running', 'interrupted', r.state), r.started_at, coalesce(r.finished_at, r.started_at),
         r.provenance, r.uid, r.rounds, r.name, r.note, r.hidden
  FROM wanted w CROSS JOIN source.runs r ON r.id = w.id JOIN device_of d ON d.source = r.device_id
  JOIN environment_of e ON e.source = r.environment_id;
)sql";
constexpr const char* tag_rows =
    "INSERT OR IGNORE INTO run_tags SELECT w.target, t.tag FROM wanted w CROSS JOIN source.run_tags t ON t.run_id = "
    "w.id;";

/// In the order of the target's keys throughout, so that every page is filled once.
std::string chosen_rows() {
  return fmt::format(R"sql(
INSERT INTO points (id, run_id, plan_index, device_id, statement_id, {points}, recorded_at, digest)
  SELECT c.target, c.run, p.plan_index, d.target, s.target, {point_values}, p.recorded_at, p.digest
  FROM chosen c CROSS JOIN source.points p ON p.id = c.id JOIN device_of d ON d.source = p.device_id
  LEFT JOIN statement_of s ON s.source = p.statement_id;
INSERT INTO point_knobs SELECT c.target, q.name, q.value FROM chosen c CROSS JOIN source.point_knobs q ON q.point_id = c.id;
INSERT INTO clocks SELECT c.target, k.round, k.sm_clock_hz, k.memory_clock_hz, k.temperature_c, k.power_w,
         k.throttle_reasons, k.throttled
  FROM chosen c CROSS JOIN source.clocks k ON k.point_id = c.id;
INSERT INTO chosen_kernels
  SELECT (SELECT coalesce(max(id), 0) FROM main.kernels) + row_number() OVER (ORDER BY c.target, k.id), k.id, c.target
  FROM chosen c CROSS JOIN source.kernels k ON k.point_id = c.id;
INSERT INTO kernels (id, point_id, name, occupancy_limiter, complete)
  SELECT c.target, c.point, k.name, k.occupancy_limiter, k.complete
  FROM chosen_kernels c CROSS JOIN source.kernels k ON k.id = c.id;
INSERT INTO launches SELECT c.target, l.launch, l.source_file, l.entry, l.defines, l.digest, l.registers,
         l.local_bytes, l.static_shared_bytes, l.dynamic_shared_bytes, l.threads, l.grid
  FROM chosen_kernels c CROSS JOIN source.launches l ON l.kernel_id = c.id;
INSERT INTO metric_values SELECT c.target, m.target, v.round, v.value, v.provenance
  FROM chosen_kernels c CROSS JOIN source.metric_values v ON v.kernel_id = c.id
  JOIN metric_of m ON m.source = v.metric_id;
INSERT INTO timing_samples SELECT c.target, t.round, t.samples_ns
  FROM chosen_kernels c CROSS JOIN source.timing_samples t ON t.kernel_id = c.id;
DELETE FROM chosen_kernels;
DELETE FROM chosen;
)sql",
                     fmt::arg("points", point_columns()), fmt::arg("point_values", point_values(newest_schema())));
}

constexpr const char* ceiling_rows = R"sql(
INSERT OR IGNORE INTO ceiling_sets (uid, device_id, environment_id, measured_at)
  SELECT s.uid, d.target, e.target, s.measured_at FROM source.ceiling_sets s
  JOIN device_of d ON d.source = s.device_id JOIN environment_of e ON e.source = s.environment_id ORDER BY s.uid;
INSERT OR IGNORE INTO ceilings SELECT m.id, c.name, c.argument, c.value, c.q1, c.q3, c.unit, c.provenance
  FROM source.ceilings c JOIN source.ceiling_sets s ON s.id = c.set_id JOIN main.ceiling_sets m ON m.uid = s.uid;
)sql";

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
}

bool RunCopier::meet(const std::string& uri, int version) {
  attach_source(target_, uri);
  in_transaction(target_, meeting(version));
  const bool has_ceilings =
      version >= statements_since && target_.execAndGet("SELECT count(*) FROM source.ceiling_sets").getInt64() > 0;
  target_.exec("DETACH source");
  return has_ceilings;
}

void RunCopier::write_names() {
  SQLite::Transaction transaction(target_);
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
  target_.exec(copied_runs_sql);
  target_.exec(tag_rows);
  transaction.commit();
}

void RunCopier::copy_tags(const IdPair& run) {
  SQLite::Transaction transaction(target_);
  want({&run, 1});
  target_.exec(tag_rows);
  transaction.commit();
}

void RunCopier::copy_points_of_runs(std::span<const IdPair> runs) {
  SQLite::Transaction transaction(target_);
  want(runs);
  target_.exec(
      fmt::format("INSERT INTO chosen SELECT {} + row_number() OVER (ORDER BY w.target, p.plan_index), p.id, "
                  "w.target FROM wanted w CROSS JOIN source.points p ON p.run_id = w.id",
                  next_point() - 1));
  copy_chosen();
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
  copy_chosen();
  transaction.commit();
}

void RunCopier::copy_chosen() {
  static const std::string sql = chosen_rows();
  target_.exec(sql);
}

void RunCopier::copy_ceilings() {
  in_transaction(target_, ceiling_rows);
}

std::int64_t RunCopier::next_point() const {
  return target_.execAndGet("SELECT coalesce(max(id), 0) + 1 FROM points").getInt64();
}

}  // namespace attnscope
