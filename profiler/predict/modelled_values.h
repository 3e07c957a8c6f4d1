// SPDX-License-Identifier: Apache-2.0
// What theory says of points, metric by metric: what a measured value is divided by.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "profiler/points/point_table.h"
#include "profiler/predict/exploration.h"

namespace attnscope::analysis {

/// Whether theory has a value of that metric: a closed form, an estimate of DRAM bytes, a predicted time, or what
/// follows from these.
[[nodiscard]] bool has_model(std::string_view metric);

/// Of the points of one table, which has to outlive it; what is worked out of a point is kept.
class ModelledValues {
 public:
  explicit ModelledValues(const PointTable& table) : table_(table) {}
  /// In the metric's unit, on the device of the point's run. Nothing without a
  /// model of the metric or the algorithm, for a tile that is not stated or does not run there, and under masks whose
  /// squares are counted (is_quick()).
  [[nodiscard]] std::optional<double> at(Row row, std::string_view metric);

 private:
  [[nodiscard]] const Exploration* exploration_of(Row row);

  const PointTable& table_;
  std::map<Row, std::unique_ptr<const Exploration>> known_;  ///< null: theory says nothing of it
};

}  // namespace attnscope::analysis
