// SPDX-License-Identifier: Apache-2.0
// Estimates the remaining time of a sweep.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"

namespace attnscope {

/// Estimates the remaining time from finished points. Time grows with work (N 16384 takes thousands of times as long as
/// N 256), so it fits seconds = fixed + rate x work.
class ProgressEstimator {
 public:
  /// Work of a point: its algorithm's FLOPs. `times[i]`: number of runs of point i (empty: one each). Stops early if
  /// `cancelled` returns true. `workers`: number of workers that measure concurrently.
  ProgressEstimator(std::span<const PointSpec> points, const Registry&, std::vector<std::size_t> times,
                    const std::function<bool()>& cancelled = {}, std::size_t workers = 1);

  /// Records that point `index` ended after `seconds`. `measured`: false if it did not run completely (infeasible, out
  /// of memory); such a point is not used for the fit. `for_good`: it has no more runs.
  void finished(std::size_t index, double seconds, bool measured, bool for_good = false);

  /// Records that the remaining workers take over the points of a lost one.
  void worker_lost();

  /// Estimated seconds for the unfinished points; empty until a point was measured.
  [[nodiscard]] std::optional<double> remaining_seconds() const;

 private:
  std::size_t workers_;
  std::vector<double> work_;
  std::vector<std::size_t> open_;  ///< Remaining runs of each point.
  double open_work_ = 0;
  std::size_t open_count_ = 0;
  double done_count_ = 0;
  double done_work_ = 0;
  double done_seconds_ = 0;
  double done_work_squared_ = 0;
  double done_work_seconds_ = 0;
};

}  // namespace attnscope
