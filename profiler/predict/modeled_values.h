// SPDX-License-Identifier: Apache-2.0
// Modeled values of points by metric, for measured/modeled ratios.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "profiler/points/point_table.h"
#include "profiler/predict/exploration.h"

namespace attnscope::analysis {

/// Returns true if the model has a value for the metric: closed-form bytes, estimated DRAM bytes, predicted time, or
/// values derived from these.
[[nodiscard]] bool has_model(std::string_view metric);

/// Modeled values of one table's points, cached per point. The table must outlive it.
class ModeledValues {
 public:
  explicit ModeledValues(const PointTable& table) : table_(table) {}
  /// Returns the value in the metric's unit, for the device of the point's run. Empty if the metric or algorithm has no
  /// model, the tile is unknown or infeasible, or the problem is slow to model (is_fast_to_model()).
  [[nodiscard]] std::optional<double> at(Row row, std::string_view metric);

 private:
  [[nodiscard]] const Exploration* exploration_of(Row row);

  const PointTable& table_;
  std::map<Row, std::unique_ptr<const Exploration>> known_;  ///< null: no model for this point
};

}  // namespace attnscope::analysis
