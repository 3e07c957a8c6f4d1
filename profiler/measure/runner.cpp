// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/runner.h"

#include <optional>
#include <utility>

#include "kernels/algorithm.h"
#include "messages/point.h"

namespace attnscope {
namespace {

// What is known of a point before the device is asked: that it cannot run there.
std::optional<PointRecord> refused(const PointSpec& spec, const Device& device) {
  PointRecord record;
  record.spec = spec;
  record.disposition = Disposition::infeasible;
  record.provenance = device.info().simulated ? Provenance::simulated : Provenance::measured;
  record.kernels.emplace_back();
  const Algorithm* algorithm = device.algorithms().find(spec.algorithm);
  if (algorithm == nullptr) {
    record.reason = say::point::no_algorithm{.algorithm = spec.algorithm};
    return record;
  }
  const auto refusal = algorithm->refusal(spec.problem, spec.config(), device.info().limits);
  if (!refusal) return std::nullopt;
  record.reason = refusal->reason;
  return record;
}

}  // namespace

RunOutcome run_sweep(const SweepPlan& plan, Device& device, const MeasureOptions& options,
                     const std::vector<bool>& already_done, const RunObserver& observer, const CancelToken& cancel) {
  RunOutcome outcome;
  RunCounts& counts = outcome.counts;
  counts.total = plan.points.size();
  const auto skip = [&](std::size_t i) { return i < already_done.size() && already_done[i]; };

  std::vector<PointSpec> to_build;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (skip(i)) {
      ++counts.skipped;
    } else if (!cancel.cancelled() && !refused(plan.points[i], device)) {
      to_build.push_back(plan.points[i]);
    }
  }
  if (!to_build.empty() && !cancel.cancelled()) {
    device.prepare(to_build, cancel, [&](std::size_t done, std::size_t total, const BuildReport& report) {
      if (observer.on_build) observer.on_build(done, total, report);
    });
  }

  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    if (skip(i)) continue;
    if (cancel.cancelled()) {
      outcome.state = RunState::cancelled;
      return outcome;
    }
    const PointSpec& spec = plan.points[i];
    if (observer.on_point_started) observer.on_point_started(i, spec);
    auto known = refused(spec, device);
    const PointRecord record = known ? *std::move(known) : device.measure(spec, options, cancel);

    ++counts.done;
    ++(record.disposition == Disposition::ok ? counts.ok : counts.not_ok);
    if (observer.on_point) observer.on_point(i, record, counts);

    if (record.disposition == Disposition::cancelled) {
      outcome.state = RunState::cancelled;
      return outcome;
    }
    if (!device.usable()) {
      outcome.state = RunState::device_lost;
      outcome.reason = say::point::device_unusable{.point = describe(spec), .reason = record.reason};
      return outcome;
    }
  }
  return outcome;
}

}  // namespace attnscope
