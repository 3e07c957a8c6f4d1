// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/interleaved.h"

#include <algorithm>

#include "profiler/metrics/rounds.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns true if the kernel failed; an infeasible point is not a failure.
bool is_failure(Disposition disposition) {
  return disposition == Disposition::incorrect || disposition == Disposition::compile_error ||
         disposition == Disposition::timeout || disposition == Disposition::crashed;
}

}  // namespace

InterleavedOutcome measure_interleaved(const InterleavedPlan& plan, const InterleavedHooks& hooks,
                                       const CancelToken& cancel) {
  const auto end = Clock::now() + plan.timeout;
  const std::size_t points = plan.sides[0].size();
  std::vector<bool> ended(points);
  InterleavedOutcome outcome;
  MeasureOptions measure = plan.measure;
  for (int round = 0; round < plan.rounds.count; ++round) {
    if (!hooks.begin_round(round)) return outcome;
    measure.verify = plan.measure.verify && round == 0;
    if (plan.placement > 0) measure.placement = plan.placement + static_cast<std::uint64_t>(round);
    std::size_t done = 0;
    for (const std::size_t place : round_order(2 * points, round, plan.rounds)) {
      const std::size_t point = place % points;
      const std::size_t side = place / points;
      hooks.progress(round, 100 * done++ / (2 * points));
      if (round > 0 && ended[point]) continue;
      const PointRecord record = hooks.device(side).measure(plan.sides.at(side)[point], measure, cancel);
      if (record.disposition == Disposition::cancelled || cancel.cancelled()) return outcome;
      hooks.keep(side, point, round, record);
      outcome.failed = outcome.failed || is_failure(record.disposition);
      if (!can_remeasure(record.disposition)) ended[point] = true;
    }
    outcome.rounds = round + 1;
    const bool look = std::ranges::find(plan.looks, static_cast<std::size_t>(outcome.rounds)) != plan.looks.end();
    if (look && hooks.decided()) break;
    outcome.timed_out = outcome.rounds >= plan.min_rounds && outcome.rounds < plan.rounds.count && Clock::now() >= end;
    if (outcome.timed_out) break;
  }
  return outcome;
}

}  // namespace attnscope
