// SPDX-License-Identifier: Apache-2.0
#include "storage/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope {
namespace {

// Columns that v_points has for a metric, in their order.
constexpr std::array metric_columns{metric_key::dram_read_bytes,
                                    metric_key::dram_write_bytes,
                                    metric_key::l2_to_sm_bytes,
                                    metric_key::sm_to_l2_bytes,
                                    metric_key::achieved_occupancy_pct,
                                    metric_key::theoretical_occupancy_pct,
                                    metric_key::registers,
                                    metric_key::shared_bytes,
                                    metric_key::local_bytes,
                                    metric_key::model_l2_to_sm_bytes,
                                    metric_key::model_sm_to_l2_bytes,
                                    metric_key::model_compulsory_bytes,
                                    metric_key::memory_bytes,
                                    metric_key::dram_writeback_bytes};

// Knobs that were columns of points once, with what they said where the algorithm chose.
struct OldKnob {
  std::string_view name;
  std::string_view own_choice;
};
constexpr std::array old_knobs{OldKnob{"raster", "'q_fastest'"}, OldKnob{"splits", "0"}, OldKnob{"warps", "0"},
                               OldKnob{"stages", "0"}};

constexpr std::string_view narrow_views = R"sql(
DROP VIEW IF EXISTS v_points;
DROP VIEW IF EXISTS v_timing_samples;
DROP VIEW IF EXISTS v_metrics;
DROP VIEW IF EXISTS v_runs;

-- Runs with their device and how far they came.
CREATE VIEW v_runs AS
SELECT r.id AS run, d.name AS device, d.uuid AS device_uuid, d.simulated, r.provenance, r.preset, r.state,
       r.started_at, r.finished_at, r.planned_points, count(p.id) AS points, coalesce(sum(p.disposition = 'ok'), 0) AS ok_points,
       e.app_version, e.driver_version, e.cupti_version, r.uid, r.name, r.note, r.hidden, r.rounds
FROM runs r
JOIN devices d ON d.id = r.device_id
JOIN environments e ON e.id = r.environment_id
LEFT JOIN points p ON p.run_id = r.id
GROUP BY r.id;

-- Every stored number with its unit and origin.
CREATE VIEW v_metrics AS
SELECT p.run_id AS run, p.id AS point, p.algorithm, k.name AS kernel, m.name AS metric, v.value, m.unit, v.provenance,
       v.round
FROM metric_values v
JOIN metrics m ON m.id = v.metric_id
JOIN kernels k ON k.id = v.kernel_id
JOIN points p ON p.id = k.point_id;

-- Every timing sample, one a row.
CREATE VIEW v_timing_samples AS
SELECT p.run_id AS run, p.id AS point, k.name AS kernel, s.key AS sample, s.value AS ns, t.round
FROM timing_samples t
JOIN json_each(t.samples_ns) s
JOIN kernels k ON k.id = t.kernel_id
JOIN points p ON p.id = k.point_id;
)sql";

/// The median of a metric over the rounds.
std::string metric_column(std::string_view key) {
  return fmt::format(
      "\n       (SELECT avg(value) FROM (SELECT v.value, row_number() OVER (ORDER BY v.value) AS place, count(*) OVER "
      "() "
      "AS n FROM metric_values v JOIN metrics m ON m.id = v.metric_id WHERE v.kernel_id = k.id AND m.name = '{0}') "
      "WHERE "
      "place IN ((n + 1) / 2, (n + 2) / 2)) AS {0},",
      key);
}

}  // namespace

bool is_our_view(std::string_view name) {
  return std::ranges::find(our_views, name) != our_views.end();
}

std::string view_statements(int version) {
  std::string columns;
  for (const Field& field : point_fields()) {
    if (field.since > version) continue;
    if (field.role == FieldRole::circumstance) {  // the knobs stand before it, as they did
      for (const OldKnob& knob : old_knobs) {
        columns += fmt::format(
            " coalesce((SELECT value FROM point_knobs WHERE point_id = p.id AND name = '{0}'), {1}) AS {0},", knob.name,
            knob.own_choice);
      }
    }
    columns += fmt::format(" p.{},", field.name);
    if (field.role == FieldRole::algorithm) columns += " k.name AS kernel,";
  }
  std::string metrics;
  for (const std::string_view key : metric_columns) {
    metrics += metric_column(key);
    if (key == metric_key::theoretical_occupancy_pct) metrics += " k.occupancy_limiter,";
  }
  return std::string(narrow_views) + fmt::format(R"sql(
-- One wide row a point and kernel: what most questions need. Medians, over the rounds where there are several.
CREATE VIEW v_points AS
SELECT p.run_id AS run, p.id AS point, d.name AS device,{0}
       (SELECT json_group_object(name, value) FROM point_knobs WHERE point_id = p.id) AS knobs,
       p.disposition, p.reason, p.provenance,
       -- An imported point may bring the median without the samples.
       coalesce((SELECT avg(ns) FROM (SELECT s.value AS ns, row_number() OVER (ORDER BY s.value) AS place,
                                             count(*) OVER () AS n
                                      FROM timing_samples t JOIN json_each(t.samples_ns) s WHERE t.kernel_id = k.id)
                 WHERE place IN ((n + 1) / 2, (n + 2) / 2)),
                (SELECT v.value FROM metric_values v JOIN metrics m ON m.id = v.metric_id
                 WHERE v.kernel_id = k.id AND m.name = 'time_median_ns')) AS time_median_ns,{1}
       k.complete, p.max_abs_error, p.error_bound, p.rms_error,
       (SELECT avg(sm_clock_hz) FROM clocks WHERE point_id = p.id) AS sm_clock_hz,
       (SELECT avg(memory_clock_hz) FROM clocks WHERE point_id = p.id) AS memory_clock_hz,
       (SELECT max(throttled) FROM clocks WHERE point_id = p.id) AS throttled
FROM points p
JOIN devices d ON d.id = p.device_id
LEFT JOIN kernels k ON k.point_id = p.id;
)sql",
                                                 columns, metrics);
}

}  // namespace attnscope
