// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/algorithm.h"
#include "profiler/metrics/rounds.h"

namespace attnscope {
namespace {

/// Maximum measured seconds that are not yet reported: what a killed process loses.
constexpr double max_unreported_seconds = 1;

// Record of a point that cannot run on the device; nothing if it can.
std::optional<PointRecord> refused(const PointSpec& spec, const Device& device) {
  PointRecord record;
  record.spec = spec;
  record.disposition = Disposition::infeasible;
  record.provenance = device.info().simulated ? Provenance::simulated : Provenance::measured;
  record.kernels.emplace_back();
  const Algorithm* algorithm = device.algorithms().find(spec.algorithm);
  if (algorithm == nullptr) {
    record.reason = make_reason("point.no_algorithm", "This build has no algorithm '{}'.", spec.algorithm);
    return record;
  }
  const auto refusal = algorithm->refusal(spec.problem, spec.config(), device.info().limits);
  if (!refusal) return std::nullopt;
  record.reason = refusal->reason;
  return record;
}

class Sweep {
 public:
  Sweep(const SweepPlan& plan, Device& device, const MeasureOptions& options, const SweepRounds& rounds,
        std::vector<PointProgress> done, const RunObserver& observer, const CancelToken& cancel, SweepStart start)
      : plan_(plan),
        device_(device),
        options_(options),
        rounds_(rounds),
        done_(std::move(done)),
        observer_(observer),
        cancel_(cancel),
        start_(std::move(start)) {
    done_.resize(plan.points.size());
  }

  RunOutcome run() {
    for (int round = 0; round < rounds_.count && !ended_; ++round) {
      begin_round(round);
      std::vector<std::size_t> places = round_order(plan_.points.size(), round, rounds_);
      while (!places.empty() && !ended_) {
        for (const std::size_t i : places) {
          if (!ended_ && is_open(i, round)) measure(i);
        }
        places = round == 0 && start_.more && !ended_ ? start_.more(done_) : std::vector<std::size_t>();
      }
      if (!ended_) count_waiting();
    }
    return outcome_;
  }

 private:
  /// A started point that is not yet reported.
  struct InFlight {
    std::size_t index;
    PointRecord record;
    bool counters_pending;
  };

  [[nodiscard]] bool is_open(std::size_t i, int round) const {
    return !done_[i].ended && !done_[i].rounds.contains(round);
  }
  void begin_round(int round) {
    round_ = round;
    options_of_round_ = options_;
    options_of_round_.verify = options_.verify && round == 0;
    if (rounds_.count > 1) options_of_round_.placement = rounds_.seed + static_cast<std::uint64_t>(round) + 1;
    if (observer_.on_round) observer_.on_round(round);
  }

  void measure(std::size_t i) {
    if (check_cancelled()) return;
    const PointSpec& spec = plan_.points[i];
    auto known = refused(spec, device_);
    if (!known && !waiting_.empty() && (is_count_due() || !device_.can_share_session(waiting_, spec))) {
      device_.announce(spec, options_of(i));
      count_waiting();
    }
    if (ended_ || check_cancelled()) return;
    if (observer_.on_point_started) observer_.on_point_started(i, spec);
    Device::MeasurementResult point = known ? Device::MeasurementResult{*std::move(known), false}
                                            : device_.measure_deferred(spec, options_of(i), cancel_);
    in_flight_.push_back({i, std::move(point.record), point.counters_pending});
    if (point.counters_pending) {
      waiting_.push_back(spec);
      waiting_seconds_ += in_flight_.back().record.wall_seconds;
    }
    if (!device_.usable()) {
      device_lost(in_flight_.size() - 1);
    } else {
      report_whole();
    }
  }

  [[nodiscard]] bool is_count_due() const {
    return waiting_.size() >= start_.together || waiting_seconds_ >= max_unreported_seconds;
  }

  [[nodiscard]] MeasureOptions options_of(std::size_t i) const {
    MeasureOptions options = options_of_round_;
    // A user-defined kernel may behave differently in each round.
    const Algorithm* algorithm = device_.algorithms().find(plan_.points[i].algorithm);
    if (algorithm != nullptr && algorithm->facts().user_defined) options.verify = options_.verify;
    return options;
  }

  [[nodiscard]] bool check_cancelled() {
    if (!cancel_.cancelled()) return false;
    ended_ = true;
    outcome_.state = RunState::cancelled;
    return true;
  }

  void count_waiting() {
    std::vector<PointRecord*> records;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < in_flight_.size(); ++i) {
      if (!in_flight_[i].counters_pending) continue;
      records.push_back(&in_flight_[i].record);
      places.push_back(i);
    }
    const Device::CountResult counted =
        records.empty() ? Device::CountResult{} : device_.count(records, options_of_round_, cancel_);
    for (std::size_t i = 0; i < places.size(); ++i) in_flight_[places[i]].counters_pending = !counted.whole[i];
    waiting_.clear();
    waiting_seconds_ = 0;
    start_.together = std::min(2 * start_.together, max_counted_together);
    if (!device_.usable()) {
      device_lost(counted.fatal_point ? std::optional(places[*counted.fatal_point]) : std::nullopt);
      return;
    }
    report_whole();
    if (!ended_ && !in_flight_.empty()) {
      // Counting was cancelled: discard the points as if not started.
      ended_ = true;
      outcome_.state = RunState::cancelled;
    }
  }

  /// Reports the points that precede the first one waiting for counters.
  void report_whole() {
    std::size_t reported = 0;
    while (reported < in_flight_.size() && !in_flight_[reported].counters_pending && !ended_)
      report(in_flight_[reported++]);
    in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(reported));
  }

  /// Reports the complete points, and the one that made the device unusable, which is not measured again. The others
  /// are measured again.
  void device_lost(std::optional<std::size_t> culprit) {
    for (const InFlight& point : in_flight_) {
      if (!point.counters_pending) report(point);
    }
    if (culprit) {
      const PointRecord& record = in_flight_[*culprit].record;
      outcome_.reason = make_reason("point.device_unusable", "The device is unusable after {}: {}",
                                    describe(record.spec), record.reason);
    }
    outcome_.state = RunState::device_lost;
    ended_ = true;
  }

  void report(const InFlight& point) {
    const bool cancelled = point.record.disposition == Disposition::cancelled;
    if (!can_remeasure(point.record.disposition) && !cancelled) done_[point.index].ended = true;
    if (observer_.on_point) observer_.on_point(point.index, point.record);
    if (!cancelled) return;
    ended_ = true;
    outcome_.state = RunState::cancelled;
  }

  const SweepPlan& plan_;
  Device& device_;
  const MeasureOptions& options_;
  MeasureOptions options_of_round_;
  const SweepRounds& rounds_;
  std::vector<PointProgress> done_;
  int round_ = 0;
  const RunObserver& observer_;
  const CancelToken& cancel_;
  RunOutcome outcome_;
  bool ended_ = false;
  std::vector<InFlight> in_flight_;
  std::vector<PointSpec> waiting_;
  double waiting_seconds_ = 0;
  SweepStart start_;
};

}  // namespace

RunOutcome run_sweep(const SweepPlan& plan, Device& device, const MeasureOptions& options, const SweepRounds& rounds,
                     std::vector<PointProgress> done, const RunObserver& observer, const CancelToken& cancel,
                     SweepStart start) {
  return Sweep(plan, device, options, rounds, std::move(done), observer, cancel, std::move(start)).run();
}

}  // namespace attnscope
