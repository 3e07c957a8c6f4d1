// SPDX-License-Identifier: Apache-2.0
#include "storage/schema/steps.h"

const char* const attnscope::schema::step_2 = R"sql(
-- Backward passes, masks in words, dropout, paged K/V, splits; numbers that came from outside.
-- Views stand in the way of renaming what they name.
DROP VIEW v_points;
DROP VIEW v_timing_samples;
DROP VIEW v_metrics;
DROP VIEW v_runs;

ALTER TABLE runs ADD COLUMN provenance TEXT NOT NULL DEFAULT 'measured'
  CHECK (provenance IN ('measured', 'simulated', 'imported'));  -- of what its points hold
UPDATE runs SET provenance = 'simulated' WHERE device_id IN (SELECT id FROM devices WHERE simulated);

CREATE TABLE points_2 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a larger id was written later
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  plan_index INTEGER NOT NULL CHECK (plan_index >= 0),
  algorithm TEXT NOT NULL,               -- any word: an imported point may be of an algorithm that is not ours
  pass TEXT NOT NULL CHECK (pass IN ('fwd', 'bwd', 'fwd+bwd')),
  dtype TEXT NOT NULL CHECK (dtype IN ('fp16', 'bf16')),
  mask TEXT NOT NULL CHECK (mask <> ''), -- "none", "causal", "window:256:0+lengths:ramp", ...: kernels/mask.h
  batch INTEGER NOT NULL,
  heads_q INTEGER NOT NULL,
  heads_kv INTEGER NOT NULL,
  n_q INTEGER NOT NULL,
  n_k INTEGER NOT NULL,
  d INTEGER NOT NULL,
  dropout REAL NOT NULL CHECK (dropout >= 0 AND dropout < 1),
  page INTEGER NOT NULL CHECK (page >= 0),             -- keys of a page of a paged K/V cache; 0: contiguous
  deterministic INTEGER NOT NULL CHECK (deterministic IN (0, 1)),
  br INTEGER NOT NULL,                   -- br, bc: 0 where an imported point does not say
  bc INTEGER NOT NULL,
  raster TEXT NOT NULL CHECK (raster IN ('q_fastest', 'heads_fastest')),
  splits INTEGER NOT NULL,               -- splits, warps, stages: 0 for the algorithm's own choice
  warps INTEGER NOT NULL,
  stages INTEGER NOT NULL,
  cache TEXT NOT NULL CHECK (cache IN ('cold', 'warm')),
  disposition TEXT NOT NULL CHECK (disposition IN ('ok', 'infeasible', 'out-of-memory', 'incorrect', 'compile-error',
                                                   'timeout', 'crashed', 'no-counters', 'cancelled')),
  reason TEXT NOT NULL,
  provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'derived', 'modelled', 'simulated', 'imported')),
  max_abs_error REAL,                    -- NULL when not verified; Inf when the output held a NaN
  error_bound REAL,
  rms_error REAL,
  wall_seconds REAL NOT NULL,
  recorded_at TEXT NOT NULL,
  UNIQUE (run_id, plan_index)
) STRICT;
INSERT INTO points_2
  SELECT id, run_id, plan_index, algorithm, pass, dtype, mask, batch, heads_q, heads_kv, n_q, n_k, d, 0, 0, 0, br, bc,
         raster, 0, 0, 0, cache, disposition, reason, provenance, max_abs_error, error_bound, rms_error, wall_seconds,
         recorded_at
  FROM points;
-- The ids that were given out, also to points that are gone.
DELETE FROM sqlite_sequence WHERE name = 'points_2';
INSERT INTO sqlite_sequence (name, seq) SELECT 'points_2', seq FROM sqlite_sequence WHERE name = 'points';
DROP TABLE points;
ALTER TABLE points_2 RENAME TO points;

CREATE TABLE metric_values_2 (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metrics (id),
  value REAL NOT NULL,
  provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'derived', 'modelled', 'simulated', 'imported')),
  PRIMARY KEY (kernel_id, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO metric_values_2 SELECT kernel_id, metric_id, value, provenance FROM metric_values;
DROP TABLE metric_values;
ALTER TABLE metric_values_2 RENAME TO metric_values;

-- Runs with their device and how far they came.
CREATE VIEW v_runs AS
SELECT r.id AS run, d.name AS device, d.uuid AS device_uuid, d.simulated, r.provenance, r.preset, r.state,
       r.started_at, r.finished_at, r.planned_points, count(p.id) AS points, coalesce(sum(p.disposition = 'ok'), 0) AS ok_points,
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
       p.heads_q, p.heads_kv, p.n_q, p.n_k, p.d, p.mask, p.dropout, p.page, p.deterministic, p.br, p.bc, p.raster,
       p.splits, p.warps, p.stages, p.cache, p.disposition, p.reason, p.provenance,
       -- An imported point may bring the median without the samples.
       coalesce((SELECT avg(ns) FROM (SELECT value AS ns, row_number() OVER (ORDER BY value) AS place,
                                             count(*) OVER () AS n
                                      FROM json_each(t.samples_ns))
                 WHERE place IN ((n + 1) / 2, (n + 2) / 2)),
                max(v.value) FILTER (WHERE m.name = 'time_median_ns')) AS time_median_ns,
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
       max(v.value) FILTER (WHERE m.name = 'memory_bytes') AS memory_bytes,
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
