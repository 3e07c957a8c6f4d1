// SPDX-License-Identifier: Apache-2.0
#include "storage/schema/steps.h"

const char* const attnscope::schema::step_3 = R"sql(
-- Knobs by name, runs that can be told apart wherever they are copied, what launched, rounds, ceilings, statements.
-- Words are checked by who reads them: more of them come.
DROP VIEW v_points;
DROP VIEW v_timing_samples;
DROP VIEW v_metrics;
DROP VIEW v_runs;

ALTER TABLE runs ADD COLUMN uid TEXT NOT NULL DEFAULT '';     -- stays with the run through copies and merges
UPDATE runs SET uid = printf('%s-%s-%s-%d', plan_hash, started_at,
                             (SELECT uuid FROM devices WHERE id = runs.device_id), id);
CREATE UNIQUE INDEX runs_by_uid ON runs (uid);
ALTER TABLE runs ADD COLUMN rounds INTEGER NOT NULL DEFAULT 1 CHECK (rounds >= 1);  -- how often the plan is measured
-- No writer yet: what a person says of a run.
ALTER TABLE runs ADD COLUMN name TEXT;
ALTER TABLE runs ADD COLUMN note TEXT;
ALTER TABLE runs ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1));
CREATE TABLE run_tags (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

-- No writer yet: the text of a kernel that is not this program's own.
CREATE TABLE statements (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  algorithm TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE points_3 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a larger id was written later
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  plan_index INTEGER NOT NULL CHECK (plan_index >= 0),
  device_id INTEGER NOT NULL REFERENCES devices (id),  -- a run may be shared out over equal GPUs
  statement_id INTEGER REFERENCES statements (id),     -- NULL: an algorithm of the program's own. No writer yet
  algorithm TEXT NOT NULL,
  pass TEXT NOT NULL,
  dtype TEXT NOT NULL,
  mask TEXT NOT NULL CHECK (mask <> ''),
  batch INTEGER NOT NULL,
  heads_q INTEGER NOT NULL,
  heads_kv INTEGER NOT NULL,
  n_q INTEGER NOT NULL,
  n_k INTEGER NOT NULL,
  d INTEGER NOT NULL,
  dropout REAL NOT NULL CHECK (dropout >= 0 AND dropout < 1),
  page INTEGER NOT NULL CHECK (page >= 0),
  deterministic INTEGER NOT NULL CHECK (deterministic IN (0, 1)),
  br INTEGER NOT NULL,                   -- br, bc: 0 where an imported point does not say
  bc INTEGER NOT NULL,
  cache TEXT NOT NULL,
  disposition TEXT NOT NULL,
  reason TEXT NOT NULL,
  reason_id TEXT,                        -- the message's id and its arguments. No writer yet
  reason_arguments TEXT CHECK (json_type(reason_arguments) = 'object'),
  provenance TEXT NOT NULL,
  max_abs_error REAL,                    -- NULL when not verified; Inf when the output held a NaN
  error_bound REAL,
  rms_error REAL,
  wall_seconds REAL NOT NULL,
  recorded_at TEXT NOT NULL,
  digest TEXT,                           -- of the row and what belongs to it. No writer yet
  UNIQUE (run_id, plan_index)
) STRICT;
-- fa2 of version 0.1 was two kernels: legacy_algorithm() says which one ran.
INSERT INTO points_3
  SELECT p.id, p.run_id, p.plan_index, r.device_id, NULL,
         iif(p.provenance = 'imported', p.algorithm,
             legacy_algorithm(p.algorithm, p.pass, p.dtype, p.mask, p.batch, p.heads_q, p.heads_kv, p.n_q, p.n_k, p.d,
                              p.dropout, p.br, p.bc, p.warps, p.stages, p.raster, d.compute_major, d.compute_minor,
                              d.shared_bytes_per_block)),
         p.pass, p.dtype, p.mask, p.batch, p.heads_q, p.heads_kv, p.n_q, p.n_k, p.d, p.dropout, p.page,
         p.deterministic, p.br, p.bc, p.cache, p.disposition, p.reason, NULL, NULL, p.provenance, p.max_abs_error,
         p.error_bound, p.rms_error, p.wall_seconds, p.recorded_at, NULL
  FROM points p JOIN runs r ON r.id = p.run_id JOIN devices d ON d.id = r.device_id;

-- What the point was given beside its tile; a knob that is not here was the algorithm's choice.
CREATE TABLE point_knobs (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'text')),
  PRIMARY KEY (point_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO point_knobs SELECT id, 'raster', raster FROM points WHERE raster <> 'q_fastest';
INSERT INTO point_knobs SELECT id, 'splits', splits FROM points WHERE splits <> 0;
INSERT INTO point_knobs SELECT id, 'warps', warps FROM points WHERE warps <> 0;
INSERT INTO point_knobs SELECT id, 'stages', stages FROM points WHERE stages <> 0;

-- The ids that were given out, also to points that are gone.
DELETE FROM sqlite_sequence WHERE name = 'points_3';
INSERT INTO sqlite_sequence (name, seq) SELECT 'points_3', seq FROM sqlite_sequence WHERE name = 'points';
DROP TABLE points;
ALTER TABLE points_3 RENAME TO points;

ALTER TABLE kernels ADD COLUMN complete INTEGER CHECK (complete IN (0, 1));  -- of a simulation: played whole. Else NULL

-- What ran as a kernel; 'all' has none where the point has several kernels.
CREATE TABLE launches (
  kernel_id INTEGER PRIMARY KEY REFERENCES kernels (id) ON DELETE CASCADE,
  launch TEXT NOT NULL,                  -- its name in the plan: "fwd"
  source_file TEXT NOT NULL,
  entry TEXT NOT NULL,
  defines TEXT NOT NULL CHECK (json_type(defines) = 'array'),
  digest TEXT NOT NULL,                  -- of the sources, options, architecture and compiler
  registers INTEGER NOT NULL,            -- a thread
  local_bytes INTEGER NOT NULL,          -- a thread
  static_shared_bytes INTEGER NOT NULL,
  dynamic_shared_bytes INTEGER NOT NULL,
  threads INTEGER NOT NULL,              -- a block
  grid TEXT NOT NULL CHECK (json_type(grid) = 'array')
) STRICT;

-- A value, a row of samples and a reading of the clocks for each round; the first is 0.
CREATE TABLE metric_values_3 (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metrics (id),
  round INTEGER NOT NULL DEFAULT 0 CHECK (round >= 0),
  value REAL NOT NULL,
  provenance TEXT NOT NULL,
  PRIMARY KEY (kernel_id, metric_id, round)
) STRICT, WITHOUT ROWID;
INSERT INTO metric_values_3 SELECT kernel_id, metric_id, 0, value, provenance FROM metric_values;
DROP TABLE metric_values;
ALTER TABLE metric_values_3 RENAME TO metric_values;

CREATE TABLE timing_samples_3 (
  kernel_id INTEGER NOT NULL REFERENCES kernels (id) ON DELETE CASCADE,
  round INTEGER NOT NULL DEFAULT 0 CHECK (round >= 0),
  samples_ns TEXT NOT NULL CHECK (json_type(samples_ns) = 'array'),
  PRIMARY KEY (kernel_id, round)
) STRICT;
INSERT INTO timing_samples_3 SELECT kernel_id, 0, samples_ns FROM timing_samples;
DROP TABLE timing_samples;
ALTER TABLE timing_samples_3 RENAME TO timing_samples;

CREATE TABLE clocks_3 (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  round INTEGER NOT NULL DEFAULT 0 CHECK (round >= 0),
  sm_clock_hz REAL NOT NULL,
  memory_clock_hz REAL NOT NULL,
  temperature_c REAL NOT NULL,
  power_w REAL NOT NULL,
  throttle_reasons INTEGER NOT NULL,     -- NVML's bit mask, nvmlClocksEventReason*
  throttled INTEGER NOT NULL CHECK (throttled IN (0, 1)),
  PRIMARY KEY (point_id, round)
) STRICT;
INSERT INTO clocks_3 SELECT point_id, 0, sm_clock_hz, memory_clock_hz, temperature_c, power_w, throttle_reasons, throttled
  FROM clocks;
DROP TABLE clocks;
ALTER TABLE clocks_3 RENAME TO clocks;

-- No writer yet: what micro-benchmarks found a device to be capable of; curves have an argument.
CREATE TABLE ceiling_sets (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
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
)sql";
