// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/map_error.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "profiler/analysis/compared_values.h"
#include "profiler/analysis/row_keys.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis {

std::optional<MapError> map_error(const PointTable& table, std::span<const Row> simulated) {
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  std::vector<Row> recorded;
  for (const Row row : table.rows()) {
    if (table.points().origin(row) == Provenance::measured && has_values(table.disposition(row)))
      recorded.push_back(row);
  }
  std::vector<RowKey> keys{key_of_knobs(table), key_of_device(table)};
  for (const Field& field : point_fields()) keys.push_back(key_of_field(table, field.name));
  std::vector<double> errors;
  double chosen_simulated = 0;
  double chosen = 0;
  double fastest = 0;
  const RowGroups groups(keys, simulated, recorded);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto [of_simulated, of_recorded] = groups[group];
    if (of_simulated.empty() || of_recorded.empty()) continue;
    const double predicted = times.at(of_simulated.front()).value_or(0);
    const double measured = times.at(of_recorded.back()).value_or(0);  // the newest
    if (!(predicted > 0) || !(measured > 0)) continue;
    if (errors.empty() || predicted < chosen_simulated) {
      chosen_simulated = predicted;
      chosen = measured;
    }
    fastest = errors.empty() ? measured : std::min(fastest, measured);
    errors.push_back(std::abs(predicted / measured - 1));
  }
  if (errors.size() < fewest_tiles) return std::nullopt;
  return MapError{.tiles = errors.size(),
                  .median = summarize(errors)->median,
                  .worst = std::ranges::max(errors),
                  .chosen_over = chosen / fastest};
}

}  // namespace attnscope::analysis
