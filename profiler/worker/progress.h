// SPDX-License-Identifier: Apache-2.0
// How long a sweep still takes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// Estimates from the points done so far. A point's cost grows with its work (N 16384 takes thousands of times as long
/// as N 256), so the estimate is seconds = fixed + rate x work, fitted to what each point took.
class ProgressEstimator {
 public:
  /// The work of a point is its algorithm's FLOPs. `times[i]`: how often the point will be run (empty: each once). Work
  /// is counted until `cancelled` says yes: an estimator of a sweep that is given up need not know the rest.
  ProgressEstimator(std::span<const PointSpec> points, const Registry&, std::vector<std::size_t> times,
                    const std::function<bool()>& cancelled = {});

  /// Point `index` ended after `seconds`. `measured` is false for one that was not run to its end (infeasible, out of
  /// memory): it says nothing about the others. `for_good`: it is not run again, however often it was to be.
  void finished(std::size_t index, double seconds, bool measured, bool for_good = false);

  /// Seconds for what is not yet finished; empty until a point was measured.
  [[nodiscard]] std::optional<double> remaining_seconds() const;

 private:
  std::vector<double> work_;
  std::vector<std::size_t> open_;  ///< how often
  double open_work_ = 0;
  std::size_t open_count_ = 0;
  double done_count_ = 0;
  double done_work_ = 0;
  double done_seconds_ = 0;
  double done_work_squared_ = 0;
  double done_work_seconds_ = 0;
};

}  // namespace attnscope
