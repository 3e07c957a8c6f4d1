// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "profiler/files/output_file.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "storage/database.h"
#include "storage/rows.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

// All numbers are in base units: bytes, nanoseconds, hertz; seconds if the name ends in _seconds. Times are ISO 8601,
// UTC. {0}: columns of a point's fields, {1}: of a device's limits, {2}: of an environment.
constexpr std::string_view tables = R"sql(
-- A row never changes: a GPU whose description differs (after a driver update, say) is another row.
CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL,                    -- "GPU-...", or "SIM-<name>" for the simulated device
  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
  ordinal INTEGER NOT NULL,
  name TEXT NOT NULL,
  compute_major INTEGER NOT NULL,
  compute_minor INTEGER NOT NULL,
{1}  UNIQUE (uuid, simulated, ordinal, name, compute_major, compute_minor, sm_count, max_threads_per_block,
          max_threads_per_sm, max_blocks_per_sm, registers_per_sm, shared_bytes_per_block, shared_bytes_per_sm,
          shared_bytes_reserved, l2_bytes, dram_bytes, dram_bytes_per_second, l2_bytes_per_second, tensor_flops)
) STRICT;

CREATE TABLE environments (
  id INTEGER PRIMARY KEY,
{2}  UNIQUE (app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system)
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,              -- kept by copies and merges
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  preset TEXT NOT NULL,
  argv TEXT NOT NULL CHECK (json_type(argv) = 'array'),
  plan_hash TEXT NOT NULL,               -- equal for equal plans
  planned_points INTEGER NOT NULL CHECK (planned_points >= 0),
  rounds INTEGER NOT NULL CHECK (rounds >= 1),
  options TEXT NOT NULL CHECK (json_type(options) = 'object'),
  provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'simulated', 'imported')),
  -- 'running' is true only while "<file>-lock" is locked: the collector of any other was killed.
  state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'cancelled', 'interrupted', 'failed')),
  started_at TEXT NOT NULL,
  finished_at TEXT CHECK ((finished_at IS NULL) = (state = 'running')),
  checksum TEXT,                         -- of all above and below it but names and ids; NULL: the run never ended
  -- Edited by people; outside the checksum.
  name TEXT,
  note TEXT,
  hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  edited_at TEXT
) STRICT;
CREATE INDEX runs_by_plan ON runs (plan_hash);

CREATE TABLE run_tags (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

-- The shards of its plan that a run has: shard 3 of 8. Its plan_hash and planned_points are those of the whole plan.
CREATE TABLE run_shards (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  shard INTEGER NOT NULL CHECK (shard >= 1),
  shards INTEGER NOT NULL CHECK (shards >= shard),
  PRIMARY KEY (run_id, shard, shards)
) STRICT, WITHOUT ROWID;

-- One row: how many runs the file has.
CREATE TABLE totals (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  runs INTEGER NOT NULL CHECK (runs >= 0)
) STRICT;
INSERT INTO totals VALUES (1, 0);

CREATE TABLE user_kernels (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,           -- of text, host_code and the sources' names and digests
  algorithm TEXT NOT NULL,
  text TEXT NOT NULL,                    -- the JSON that describes the kernel
  host_code INTEGER NOT NULL CHECK (host_code IN (0, 1))
) STRICT;
CREATE TABLE user_kernel_sources (
  user_kernel_id INTEGER NOT NULL REFERENCES user_kernels (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  content BLOB,                          -- NULL unless it was to be stored
  PRIMARY KEY (user_kernel_id, name)
) STRICT;

CREATE TABLE points (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a larger id was written later
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  plan_index INTEGER NOT NULL CHECK (plan_index >= 0),
  device_id INTEGER NOT NULL REFERENCES devices (id),
  user_kernel_id INTEGER REFERENCES user_kernels (id),  -- NULL: an algorithm of the program
{0}  disposition TEXT NOT NULL,
  reason TEXT NOT NULL,                  -- English
  reason_code TEXT,
  provenance TEXT NOT NULL,
  max_abs_error REAL,                    -- NULL: not verified; Inf: the output had a NaN
  error_bound REAL,
  rms_error REAL,
  wall_seconds REAL NOT NULL,
  recorded_at TEXT NOT NULL,
  UNIQUE (run_id, plan_index)
) STRICT;

-- The GPUs beside points.device_id (rank 0) of a point that runs on several, in the order of their use.
CREATE TABLE point_devices (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL CHECK (rank >= 1),
  device_id INTEGER NOT NULL REFERENCES devices (id),
  PRIMARY KEY (point_id, rank)
) STRICT, WITHOUT ROWID;

-- Parameters of the algorithm beside the tile. One that is absent was the algorithm's choice.
CREATE TABLE point_knobs (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'text')),
  PRIMARY KEY (point_id, name)
) STRICT, WITHOUT ROWID;

-- 'all' is the sum of a point's kernels; a point of several kernels has a row for each as well.
CREATE TABLE kernels (
  id INTEGER PRIMARY KEY,
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  occupancy_limiter TEXT NOT NULL,       -- '': unknown
  complete INTEGER CHECK (complete IN (0, 1)),  -- of a simulation: of the whole launch; else NULL
  UNIQUE (point_id, name)
) STRICT;

-- The launch of a kernel; 'all' has none if the point has several kernels.
CREATE TABLE launches (
  kernel_id INTEGER PRIMARY KEY REFERENCES kernels (id) ON DELETE CASCADE,
  launch TEXT NOT NULL,                  -- "fwd"
  source_file TEXT NOT NULL,
  entry TEXT NOT NULL,
  defines TEXT NOT NULL CHECK (json_type(defines) = 'array'),
  digest TEXT NOT NULL,                  -- of the sources, options, architecture and compiler
  registers INTEGER NOT NULL,            -- per thread
  local_bytes INTEGER NOT NULL,          -- per thread
  static_shared_bytes INTEGER NOT NULL,
  dynamic_shared_bytes INTEGER NOT NULL,
  threads INTEGER NOT NULL,              -- per block
  grid TEXT NOT NULL CHECK (json_type(grid) = 'array')
) STRICT;

CREATE TABLE metrics (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,                    -- "dram_read_bytes"; the counter's name for those of --metrics
  unit TEXT NOT NULL,
  UNIQUE (name, unit)
) STRICT;

CREATE TABLE metric_values (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metrics (id),
  round INTEGER NOT NULL CHECK (round >= 0),
  value REAL NOT NULL,
  provenance TEXT NOT NULL,
  PRIMARY KEY (kernel_id, metric_id, round)
) STRICT, WITHOUT ROWID;

-- Timing samples in the order taken, as a JSON array of nanoseconds.
CREATE TABLE timing_samples (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id) ON DELETE CASCADE,
  round INTEGER NOT NULL CHECK (round >= 0),
  samples_ns TEXT NOT NULL CHECK (json_type(samples_ns) = 'array'),
  PRIMARY KEY (kernel_id, round)
) STRICT;

CREATE TABLE clocks (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  round INTEGER NOT NULL CHECK (round >= 0),
  sm_clock_hz REAL NOT NULL,
  memory_clock_hz REAL NOT NULL,
  temperature_c REAL NOT NULL,
  power_w REAL NOT NULL,
  throttle_reasons INTEGER NOT NULL,     -- NVML's bit mask, nvmlClocksEventReason*
  throttled INTEGER NOT NULL CHECK (throttled IN (0, 1)),
  PRIMARY KEY (point_id, round)
) STRICT;

-- What microbenchmarks measured of a device; ceilings that are curves have an argument.
CREATE TABLE ceiling_sets (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,              -- checksum of the set
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  measured_at TEXT NOT NULL
) STRICT;
CREATE TABLE ceilings (
  set_id INTEGER NOT NULL REFERENCES ceiling_sets (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  argument REAL NOT NULL DEFAULT 0,
  value REAL NOT NULL,
  q1 REAL,
  q3 REAL,
  unit TEXT NOT NULL,
  provenance TEXT NOT NULL,
  PRIMARY KEY (set_id, name, argument)
) STRICT, WITHOUT ROWID;

-- The noise of one recording, measured by repeated ones, each its own process.
CREATE TABLE noise_sets (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,              -- checksum of the set
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  measured_at TEXT NOT NULL,
  recordings INTEGER NOT NULL CHECK (recordings >= 2),
  rounds INTEGER NOT NULL CHECK (rounds >= 1),
  provenance TEXT NOT NULL
) STRICT;
CREATE TABLE noise (
  set_id INTEGER NOT NULL REFERENCES noise_sets (id) ON DELETE CASCADE,
  point TEXT NOT NULL,                   -- its identity in a plan's hash
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (set_id, point, name)
) STRICT, WITHOUT ROWID;
)sql";

// Views for use with sqlite3; the program reads none. {0}: columns of fields, {1}: columns of metrics.
constexpr std::string_view views = R"sql(
CREATE VIEW v_runs AS
SELECT r.id AS run, d.name AS device, d.uuid AS device_uuid, d.simulated, r.provenance, r.preset, r.state,
       r.started_at, r.finished_at, r.planned_points, count(p.id) AS points,
       coalesce(sum(p.disposition = 'ok'), 0) AS ok_points, e.app_version, e.driver_version, e.cupti_version, r.uid,
       r.name, r.note, r.hidden, r.rounds
FROM runs r
JOIN devices d ON d.id = r.device_id
JOIN environments e ON e.id = r.environment_id
LEFT JOIN points p ON p.run_id = r.id
GROUP BY r.id;

CREATE VIEW v_metrics AS
SELECT p.run_id AS run, p.id AS point, p.algorithm, k.name AS kernel, m.name AS metric, v.value, m.unit, v.provenance,
       v.round
FROM metric_values v
JOIN metrics m ON m.id = v.metric_id
JOIN kernels k ON k.id = v.kernel_id
JOIN points p ON p.id = k.point_id;

CREATE VIEW v_timing_samples AS
SELECT p.run_id AS run, p.id AS point, k.name AS kernel, s.key AS sample, s.value AS ns, t.round
FROM timing_samples t
JOIN json_each(t.samples_ns) s
JOIN kernels k ON k.id = t.kernel_id
JOIN points p ON p.id = k.point_id;

-- One row per point and kernel; values are medians over samples and rounds.
CREATE VIEW v_points AS
SELECT p.run_id AS run, p.id AS point, d.name AS device,{0}
       (SELECT json_group_object(name, value) FROM point_knobs WHERE point_id = p.id) AS knobs,
       p.disposition, p.reason, p.provenance,
       -- An imported point may have a median without samples.
       coalesce((SELECT avg(ns) FROM (SELECT s.value AS ns, row_number() OVER (ORDER BY s.value) AS row,
                                             count(*) OVER () AS n
                                      FROM timing_samples t JOIN json_each(t.samples_ns) s WHERE t.kernel_id = k.id)
                 WHERE row IN ((n + 1) / 2, (n + 2) / 2)),
                (SELECT v.value FROM metric_values v JOIN metrics m ON m.id = v.metric_id
                 WHERE v.kernel_id = k.id AND m.name = 'time_median_ns')) AS time_median_ns,{1}
       k.occupancy_limiter, k.complete, p.max_abs_error, p.error_bound, p.rms_error,
       (SELECT avg(sm_clock_hz) FROM clocks WHERE point_id = p.id) AS sm_clock_hz,
       (SELECT avg(memory_clock_hz) FROM clocks WHERE point_id = p.id) AS memory_clock_hz,
       (SELECT max(throttled) FROM clocks WHERE point_id = p.id) AS throttled
FROM points p
JOIN devices d ON d.id = p.device_id
LEFT JOIN kernels k ON k.point_id = p.id;
)sql";

constexpr std::string_view metric_column = R"sql(
       (SELECT avg(value) FROM (SELECT v.value, row_number() OVER (ORDER BY v.value) AS row, count(*) OVER () AS n
                                FROM metric_values v JOIN metrics m ON m.id = v.metric_id
                                WHERE v.kernel_id = k.id AND m.name = '{0}')
        WHERE row IN ((n + 1) / 2, (n + 2) / 2)) AS {0},)sql";

constexpr std::string_view sql_type(FieldType type) {
  switch (type) {
    case FieldType::integer:
    case FieldType::flag:
      return "INTEGER";
    case FieldType::real:
      return "REAL";
    case FieldType::word:
      break;
  }
  return "TEXT";
}

}  // namespace

const std::string& schema_text() {
  static const std::string text = [] {
    std::string definitions;
    std::string columns;
    for (const Field& field : point_fields()) {
      definitions += fmt::format("  {} {} NOT NULL", field.name, sql_type(field.type));
      definitions += field.type == FieldType::flag ? fmt::format(" CHECK ({} IN (0, 1)),\n", field.name) : ",\n";
      columns += fmt::format(" p.{},", field.name);
      if (field.role == FieldRole::algorithm) columns += " k.name AS kernel,";
    }
    std::string limits;
    const DeviceLimits device;
    for_each_limit(device, [&](const char* name, const auto& value) {
      constexpr bool is_real = std::is_floating_point_v<std::decay_t<decltype(value)>>;
      limits += fmt::format("  {} {} NOT NULL,\n", name, is_real ? "REAL" : "INTEGER");
    });
    std::string versions;
    const Environment environment;
    for_each_version(environment,
                     [&](const char* name, const auto&) { versions += fmt::format("  {} TEXT NOT NULL,\n", name); });
    std::string metrics;
    for (const std::string_view key :
         {metric_key::dram_read_bytes, metric_key::dram_write_bytes, metric_key::l2_to_sm_bytes,
          metric_key::sm_to_l2_bytes, metric_key::achieved_occupancy_pct, metric_key::theoretical_occupancy_pct,
          metric_key::registers, metric_key::shared_bytes, metric_key::local_bytes, metric_key::model_l2_to_sm_bytes,
          metric_key::model_sm_to_l2_bytes, metric_key::model_compulsory_bytes, metric_key::memory_bytes,
          metric_key::dram_writeback_bytes}) {
      metrics += fmt::format(metric_column, key);
    }
    return fmt::format(tables, definitions, limits, versions) + fmt::format(views, columns, metrics);
  }();
  return text;
}

void create_schema(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  database.exec(schema_text());
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, schema_version));
  transaction.commit();
}

}  // namespace attnscope
