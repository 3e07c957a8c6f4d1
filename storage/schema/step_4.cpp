// SPDX-License-Identifier: Apache-2.0
#include "storage/schema/steps.h"

const char* const attnscope::schema::step_4 = R"sql(
-- Whether rows still are what was written. A point's digest (points.digest, from now on written) is of the point and of
-- what belongs to it, with the run's uid and the device's uuid; a run's of its row and its environment. NULL: written
-- before there were digests, and not checked.
DROP VIEW IF EXISTS v_points;
DROP VIEW IF EXISTS v_timing_samples;
DROP VIEW IF EXISTS v_metrics;
DROP VIEW IF EXISTS v_runs;

ALTER TABLE devices ADD COLUMN digest TEXT;
ALTER TABLE runs ADD COLUMN digest TEXT;
-- Of the points that were written: a row that is gone has no digest to miss it by.
ALTER TABLE runs ADD COLUMN point_count INTEGER NOT NULL DEFAULT 0 CHECK (point_count >= 0);
ALTER TABLE runs ADD COLUMN points_digest TEXT NOT NULL DEFAULT '00000000000000000000000000000000';  -- the sum of theirs
UPDATE runs SET point_count = (SELECT count(*) FROM points WHERE run_id = runs.id);

-- One row: how many runs were written and not taken away.
CREATE TABLE totals (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  runs INTEGER NOT NULL CHECK (runs >= 0)
) STRICT;
INSERT INTO totals SELECT 1, count(*) FROM runs;
)sql";
