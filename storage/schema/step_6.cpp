// SPDX-License-Identifier: Apache-2.0
#include "storage/schema/steps.h"

const char* const attnscope::schema::step_6 = R"sql(
-- What a person says of runs gets its writer: name, note, tags, hidden and edited_at are there since earlier schemas.
DROP VIEW IF EXISTS v_points;
DROP VIEW IF EXISTS v_timing_samples;
DROP VIEW IF EXISTS v_metrics;
DROP VIEW IF EXISTS v_runs;

ALTER TABLE runs ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));  -- until a copy leaves it out

-- What edits can be taken back by. It is of this file: copies and merged files begin without one.
CREATE TABLE run_edits (
  step INTEGER NOT NULL CHECK (step >= 1),  -- those of one step are undone together
  run_uid TEXT NOT NULL,
  edited_at TEXT NOT NULL,
  before TEXT NOT NULL CHECK (json_type(before) = 'object'),
  after TEXT NOT NULL CHECK (json_type(after) = 'object'),
  undone INTEGER NOT NULL DEFAULT 0 CHECK (undone IN (0, 1)),
  PRIMARY KEY (step, run_uid)
) STRICT, WITHOUT ROWID;
)sql";
