// SPDX-License-Identifier: Apache-2.0
// A metric of points as it is, or over what it is compared with: theory, the simulator, another run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "profiler/points/point_table.h"
#include "profiler/predict/modelled_values.h"

namespace attnscope::analysis {

/// `share_of_best`: percent of the best value shown beside it, 100 for the best, whichever end is the better one.
/// `over_simulated`: over the simulated point of the same configuration and GPU. `over_run`: over that of a baseline
/// run.
enum class Comparison { none, share_of_best, over_model, over_simulated, over_run };
/// "value", "best", "model", "simulated", "run": what saved choices have.
[[nodiscard]] std::string_view to_string(Comparison);

/// What is shown of points.
struct Quantified {
  std::string metric;  ///< key of the metrics table
  Comparison as = Comparison::none;
  RunIndex run = 0;  ///< with over_run the baseline, with over_simulated the simulation: one, of which all is

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
  /// A configuration, and the GPU where it has to be the same.
  using Key = std::pair<std::uint64_t, std::string_view>;
  [[nodiscard]] Key key_of(Row row) const;
  [[nodiscard]] std::optional<Compared> reference_of(Row row);
  void find_references();

  const PointTable& table_;
  Quantified shown_;
  const Metric* metric_;  ///< none of a counter that the table of metrics does not have
  const ValueColumn& values_;
  const ValueColumn& times_;
  const ValueColumn& first_quartiles_;
  const ValueColumn& third_quartiles_;
  ModelledValues modelled_;
  std::vector<std::uint64_t> configurations_;     ///< by row; equal for equal ones
  std::optional<std::map<Key, Row>> references_;  ///< once one was asked for
};

/// What the points of some rows can be compared with.
struct Counterparts {
  /// Runs that hold a configuration of theirs, and are not all that they are of.
  std::vector<RunIndex> runs;
  /// The newest run that simulated a configuration of one of them that was not, on its GPU.
  std::optional<RunIndex> simulated = std::nullopt;
};
[[nodiscard]] Counterparts counterparts_of(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis
