// SPDX-License-Identifier: Apache-2.0
// A metric of points as it is, or over theory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/metrics/metrics.h"
#include "profiler/points/point_table.h"
#include "profiler/predict/modelled_values.h"

namespace attnscope::analysis {

/// `share_of_best`: percent of the best value shown beside it, 100 for the best, whichever end is the better one.
enum class Comparison { none, share_of_best, over_model };
/// "value", "best", "model": what saved choices have.
[[nodiscard]] std::string_view to_string(Comparison);

/// What is shown of points.
struct Quantified {
  std::string metric;  ///< key of the metrics table
  Comparison as = Comparison::none;

  /// Whether values are ratios, of which 1 says that both are alike.
  [[nodiscard]] bool around_one() const;
  bool operator==(const Quantified&) const = default;
};

/// Whether a point's end leaves it values: points without counters still have times, registers and the model.
[[nodiscard]] bool has_values(Disposition);

struct Compared {
  double value = 0;
  double low = 0;   ///< how far its samples scatter, lowest and highest quartile, or a counter counted once; the value
  double high = 0;  ///< itself where it does neither
  Provenance provenance = Provenance::measured;  ///< of the value; of a ratio derived, or what either part is beside
  std::optional<double> over = std::nullopt;     ///< what it was divided by, in the metric's unit
};

/// Of the points of one table, which has to outlive it. A share of the best is the metric's own value here: who shows
/// the values together knows which is the best.
class ComparedValues {
 public:
  ComparedValues(const PointTable&, Quantified);

  [[nodiscard]] const Quantified& shown() const { return shown_; }
  /// Nothing where the point has no value, or nothing to be compared with.
  [[nodiscard]] std::optional<Compared> at(Row row);
  /// The metric itself.
  [[nodiscard]] std::optional<Compared> plain(Row row) const;

 private:
  const PointTable& table_;
  Quantified shown_;
  const Metric* metric_;  ///< none of a counter that the table of metrics does not have
  const ValueColumn& values_;
  const ValueColumn& times_;
  const ValueColumn& first_quartiles_;
  const ValueColumn& third_quartiles_;
  ModelledValues modelled_;
};

}  // namespace attnscope::analysis
