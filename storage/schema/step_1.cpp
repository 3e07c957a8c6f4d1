// SPDX-License-Identifier: Apache-2.0
#include "storage/schema/steps.h"

const char* const attnscope::schema::step_1 = R"sql(
-- All numbers are in base units: bytes, nanoseconds, hertz, seconds where a name says so. Times are ISO 8601, UTC.

CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,             -- "GPU-...", or "SIM-<name>" for the simulated device
  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
  ordinal INTEGER NOT NULL,              -- as last seen
  name TEXT NOT NULL,
  compute_major INTEGER NOT NULL,
  compute_minor INTEGER NOT NULL,
  sm_count INTEGER NOT NULL,
  max_threads_per_block INTEGER NOT NULL,
  max_threads_per_sm INTEGER NOT NULL,
  max_blocks_per_sm INTEGER NOT NULL,
  registers_per_sm INTEGER NOT NULL,
  shared_bytes_per_block INTEGER NOT NULL,
  shared_bytes_per_sm INTEGER NOT NULL,
  shared_bytes_reserved INTEGER NOT NULL,
  l2_bytes INTEGER NOT NULL,
  dram_bytes INTEGER NOT NULL,
  dram_bytes_per_second REAL NOT NULL,
  l2_bytes_per_second REAL NOT NULL,
  tensor_flops REAL NOT NULL
) STRICT;

CREATE TABLE environments (
  id INTEGER PRIMARY KEY,
  app_version TEXT NOT NULL,
  driver_version TEXT NOT NULL,
  cuda_driver_api TEXT NOT NULL,
  nvrtc_version TEXT NOT NULL,
  cupti_version TEXT NOT NULL,
  nvml_version TEXT NOT NULL,
  operating_system TEXT NOT NULL,
  UNIQUE (app_version, driver_version, cuda_driver_api, nvrtc_version, cupti_version, nvml_version, operating_system)
) STRICT;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  preset TEXT NOT NULL,
  argv TEXT NOT NULL CHECK (json_type(argv) = 'array'),
  plan_hash TEXT NOT NULL,               -- equal for equal plans
  planned_points INTEGER NOT NULL CHECK (planned_points >= 0),
  options TEXT NOT NULL CHECK (json_type(options) = 'object'),
  -- A file whose collector was killed still says 'running': it is, only while "<file>-lock" is locked.
  state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'cancelled', 'interrupted', 'failed')),
  started_at TEXT NOT NULL,
  finished_at TEXT CHECK ((finished_at IS NULL) = (state = 'running'))
) STRICT;
CREATE INDEX runs_by_plan ON runs (plan_hash);

CREATE TABLE points (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a larger id was written later
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  plan_index INTEGER NOT NULL CHECK (plan_index >= 0),
  algorithm TEXT NOT NULL,
  pass TEXT NOT NULL CHECK (pass IN ('fwd')),
  dtype TEXT NOT NULL CHECK (dtype IN ('fp16', 'bf16')),
  mask TEXT NOT NULL CHECK (mask IN ('none', 'causal')),
  batch INTEGER NOT NULL,
  heads_q INTEGER NOT NULL,
  heads_kv INTEGER NOT NULL,
  n_q INTEGER NOT NULL,
  n_k INTEGER NOT NULL,
  d INTEGER NOT NULL,
  br INTEGER NOT NULL,
  bc INTEGER NOT NULL,
  raster TEXT NOT NULL CHECK (raster IN ('q_fastest', 'heads_fastest')),
  cache TEXT NOT NULL CHECK (cache IN ('cold', 'warm')),
  disposition TEXT NOT NULL CHECK (disposition IN ('ok', 'infeasible', 'out-of-memory', 'incorrect', 'compile-error',
                                                   'timeout', 'crashed', 'no-counters', 'cancelled')),
  reason TEXT NOT NULL,
  provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'derived', 'modelled', 'simulated')),
  max_abs_error REAL,                    -- NULL when not verified; Inf when the output held a NaN
  error_bound REAL,
  rms_error REAL,
  wall_seconds REAL NOT NULL,
  recorded_at TEXT NOT NULL,
  UNIQUE (run_id, plan_index)
) STRICT;

-- One row for 'all', the sum of a point's kernels; beside it each kernel of a point that has several.
CREATE TABLE kernels (
  id INTEGER PRIMARY KEY,
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  occupancy_limiter TEXT NOT NULL,       -- '' when unknown
  UNIQUE (point_id, name)
) STRICT;

CREATE TABLE metrics (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,                    -- "dram_read_bytes"; a counter's own name for those of --metrics
  unit TEXT NOT NULL,
  UNIQUE (name, unit)
) STRICT;

CREATE TABLE metric_values (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metrics (id),
  value REAL NOT NULL,
  provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'derived', 'modelled', 'simulated')),
  PRIMARY KEY (kernel_id, metric_id)
) STRICT, WITHOUT ROWID;

-- Every sample, in the order taken, as a JSON array of nanoseconds: as small as binary doubles, and json_each reads it.
CREATE TABLE timing_samples (
  kernel_id INTEGER PRIMARY KEY REFERENCES kernels (id) ON DELETE CASCADE,
  samples_ns TEXT NOT NULL CHECK (json_type(samples_ns) = 'array')
) STRICT;

CREATE TABLE clocks (
  point_id INTEGER PRIMARY KEY REFERENCES points (id) ON DELETE CASCADE,
  sm_clock_hz REAL NOT NULL,
  memory_clock_hz REAL NOT NULL,
  temperature_c REAL NOT NULL,
  power_w REAL NOT NULL,
  throttle_reasons INTEGER NOT NULL,     -- NVML's bit mask, nvmlClocksEventReason*
  throttled INTEGER NOT NULL CHECK (throttled IN (0, 1))
) STRICT;

-- For people with sqlite3 -----------------------------------------------------------------------------------------

-- Runs with their device and how far they came.
CREATE VIEW v_runs AS
SELECT r.id AS run, d.name AS device, d.uuid AS device_uuid, d.simulated, r.preset, r.state, r.started_at,
       r.finished_at, r.planned_points, count(p.id) AS points, coalesce(sum(p.disposition = 'ok'), 0) AS ok_points,
       e.app_version, e.driver_version, e.cupti_version
FROM runs r
JOIN devices d ON d.id = r.device_id
JOIN environments e ON e.id = r.environment_id
LEFT JOIN points p ON p.run_id = r.id
GROUP BY r.id;

-- Every stored number with its unit and origin.
CREATE VIEW v_metrics AS
SELECT p.run_id AS run, p.id AS point, p.algorithm, k.name AS kernel, m.name AS metric, v.value, m.unit, v.provenance
FROM metric_values v
JOIN metrics m ON m.id = v.metric_id
JOIN kernels k ON k.id = v.kernel_id
JOIN points p ON p.id = k.point_id;

-- Every timing sample, one a row.
CREATE VIEW v_timing_samples AS
SELECT p.run_id AS run, p.id AS point, k.name AS kernel, s.key AS sample, s.value AS ns
FROM timing_samples t
JOIN json_each(t.samples_ns) s
JOIN kernels k ON k.id = t.kernel_id
JOIN points p ON p.id = k.point_id;

-- One wide row a point and kernel: what most questions need.
CREATE VIEW v_points AS
SELECT p.run_id AS run, p.id AS point, d.name AS device, p.algorithm, k.name AS kernel, p.pass, p.dtype, p.batch,
       p.heads_q, p.heads_kv, p.n_q, p.n_k, p.d, p.mask, p.br, p.bc, p.raster, p.cache, p.disposition, p.reason,
       p.provenance,
       (SELECT avg(ns) FROM (SELECT value AS ns, row_number() OVER (ORDER BY value) AS place, count(*) OVER () AS n
                             FROM json_each(t.samples_ns))
        WHERE place IN ((n + 1) / 2, (n + 2) / 2)) AS time_median_ns,
       max(v.value) FILTER (WHERE m.name = 'dram_read_bytes') AS dram_read_bytes,
       max(v.value) FILTER (WHERE m.name = 'dram_write_bytes') AS dram_write_bytes,
       max(v.value) FILTER (WHERE m.name = 'l2_to_sm_bytes') AS l2_to_sm_bytes,
       max(v.value) FILTER (WHERE m.name = 'sm_to_l2_bytes') AS sm_to_l2_bytes,
       max(v.value) FILTER (WHERE m.name = 'achieved_occupancy_pct') AS achieved_occupancy_pct,
       max(v.value) FILTER (WHERE m.name = 'theoretical_occupancy_pct') AS theoretical_occupancy_pct,
       k.occupancy_limiter,
       max(v.value) FILTER (WHERE m.name = 'registers') AS registers,
       max(v.value) FILTER (WHERE m.name = 'shared_bytes') AS shared_bytes,
       max(v.value) FILTER (WHERE m.name = 'local_bytes') AS local_bytes,
       max(v.value) FILTER (WHERE m.name = 'model_l2_to_sm_bytes') AS model_l2_to_sm_bytes,
       max(v.value) FILTER (WHERE m.name = 'model_sm_to_l2_bytes') AS model_sm_to_l2_bytes,
       max(v.value) FILTER (WHERE m.name = 'model_compulsory_bytes') AS model_compulsory_bytes,
       p.max_abs_error, p.error_bound, p.rms_error, c.sm_clock_hz, c.memory_clock_hz, c.throttled
FROM points p
JOIN runs r ON r.id = p.run_id
JOIN devices d ON d.id = r.device_id
LEFT JOIN kernels k ON k.point_id = p.id
LEFT JOIN timing_samples t ON t.kernel_id = k.id
LEFT JOIN metric_values v ON v.kernel_id = k.id
LEFT JOIN metrics m ON m.id = v.metric_id
LEFT JOIN clocks c ON c.point_id = p.id
GROUP BY p.id, k.id;
)sql";
