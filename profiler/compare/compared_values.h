// SPDX-License-Identifier: Apache-2.0
// A metric's value per point, absolute or relative to the model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/metrics/metrics.h"
#include "profiler/points/point_table.h"
#include "profiler/predict/modeled_values.h"

namespace attnscope::analysis {

/// `share_of_best`: percent of the best value shown, 100 for the best. The direction depends on the metric.
enum class Comparison { none, share_of_best, over_model };
/// Returns "value", "best" or "model", as stored in saved settings.
[[nodiscard]] std::string_view to_string(Comparison);

/// A metric and the way its values are compared.
struct ValueSelection {
  std::string metric;  ///< key of the metrics table
  Comparison as = Comparison::none;

  /// Returns whether values are ratios for which 1 means equal.
  [[nodiscard]] bool is_centered_at_one() const;
  bool operator==(const ValueSelection&) const = default;
};

/// Returns whether points with this disposition have values. Points without counters still have times, registers and
/// model values.
[[nodiscard]] bool has_values(Disposition);

struct ComparedValue {
  double value = 0;
  /// Quartiles of the samples, or the count spread of a hardware counter; equal to `value` if unknown.
  double low = 0;
  double high = 0;
  /// Provenance of the value; `derived` for a ratio of a measured value to the model.
  Provenance provenance = Provenance::measured;
  std::optional<double> over = std::nullopt;  ///< divisor in the metric's unit, if any
};

/// Compared values of one table, which must outlive this object. For `share_of_best` it returns the metric itself,
/// because the caller knows which values are shown.
class ComparedValues {
 public:
  ComparedValues(const PointTable&, ValueSelection);

  [[nodiscard]] const ValueSelection& shown() const { return shown_; }
  /// Returns nullopt if the point or the model has no value.
  [[nodiscard]] std::optional<ComparedValue> at(Row row);
  [[nodiscard]] std::optional<ComparedValue> own_value(Row row) const;

 private:
  const PointTable& table_;
  ValueSelection shown_;
  const Metric* metric_;  ///< null if the metrics table lacks this counter
  const ValueColumn& values_;
  const ValueColumn& times_;
  const ValueColumn& first_quartiles_;
  const ValueColumn& third_quartiles_;
  ModeledValues modelled_;
};

}  // namespace attnscope::analysis
