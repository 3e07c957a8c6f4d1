// SPDX-License-Identifier: Apache-2.0
#include "storage/schema/steps.h"

const char* const attnscope::schema::step_5 = R"sql(
-- Room for what is planned (assets/docs/explanation.md, "Schema 5", says who writes what): no table is rewritten, and
-- what has no writer yet is empty. What a point says in another word (a dtype) needs no column.

-- What a program has to know to read this file as it is meant. One that does not know a word of these reads nothing.
CREATE TABLE needs (
  word TEXT NOT NULL PRIMARY KEY CHECK (word <> '')
) STRICT;

ALTER TABLE runs ADD COLUMN edited_at TEXT;  -- when a person last changed name, note, tags or hidden
-- The parts of its plan that a run is of: shard 3 of 8. The plan's hash and its points are those of the whole plan.
CREATE TABLE run_shards (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  shard INTEGER NOT NULL CHECK (shard >= 1),
  shards INTEGER NOT NULL CHECK (shards >= shard),
  PRIMARY KEY (run_id, shard, shards)
) STRICT, WITHOUT ROWID;

-- A point of several GPUs: points.device_id is at place 0, the others follow in the order in which they are used.
ALTER TABLE points ADD COLUMN gpus INTEGER NOT NULL DEFAULT 1;
ALTER TABLE points ADD COLUMN gpu_order TEXT NOT NULL DEFAULT 'contiguous';
CREATE TABLE point_devices (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  place INTEGER NOT NULL CHECK (place >= 1),
  device_id INTEGER NOT NULL REFERENCES devices (id),
  PRIMARY KEY (point_id, place)
) STRICT, WITHOUT ROWID;

-- Rounds of one process have in common what starting it decided; processes are counted within the run.
CREATE TABLE rounds (
  point_id INTEGER NOT NULL REFERENCES points (id) ON DELETE CASCADE,
  round INTEGER NOT NULL CHECK (round >= 0),
  process INTEGER NOT NULL CHECK (process >= 0),
  sm_clock_hz REAL,                      -- inside the round: cycles of an SM over time
  PRIMARY KEY (point_id, round)
) STRICT, WITHOUT ROWID;

-- A statement's digest is of its text, of host_code and of its sources' names and digests.
ALTER TABLE statements ADD COLUMN host_code INTEGER NOT NULL DEFAULT 0 CHECK (host_code IN (0, 1));
CREATE TABLE statement_sources (
  statement_id INTEGER NOT NULL REFERENCES statements (id) ON DELETE CASCADE,
  name TEXT NOT NULL,                    -- as the statement calls it
  digest TEXT NOT NULL,
  content BLOB,                          -- NULL unless it was to be kept
  PRIMARY KEY (statement_id, name)
) STRICT;

-- What one recording of a build does to a point, found by repeated ones, each its own process.
CREATE TABLE noise_sets (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,              -- the digest of all that the set says, as in ceiling_sets
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  measured_at TEXT NOT NULL,
  recordings INTEGER NOT NULL CHECK (recordings >= 2),
  rounds INTEGER NOT NULL CHECK (rounds >= 1),
  provenance TEXT NOT NULL
) STRICT;
CREATE TABLE noise (
  set_id INTEGER NOT NULL REFERENCES noise_sets (id) ON DELETE CASCADE,
  point TEXT NOT NULL,                   -- the line by which a plan's hash knows it; '' for what holds of all
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (set_id, point, name)
) STRICT, WITHOUT ROWID;
)sql";
