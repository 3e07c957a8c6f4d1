// SPDX-License-Identifier: Apache-2.0
// Selects the counters of a sweep, measures one planned run on open workers, and returns the exit code.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/command.h"
#include "app/commands/collect.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/text.h"
#include "profiler/worker/progress.h"
#include "profiler/worker/supervisor.h"
#include "storage/exchange/export.h"

namespace attnscope {

std::vector<std::string> extra_counters(const std::vector<std::string>& names) {
  std::vector<std::string> extra;
  for (const std::string& name : names) {
    const auto is_named = [&](const Metric& metric) {
      return !metric.counter.empty() && (metric.key == name || metric.counter == name);
    };
    const auto table = metrics_table();
    const auto known = std::find_if(table.begin(), table.end(), is_named);
    if (known != table.end() && known->collected_by_default) continue;
    const std::string counter = known != table.end() ? std::string(known->counter) : name;
    if (std::find(extra.begin(), extra.end(), counter) == extra.end()) extra.push_back(counter);
  }
  return extra;
}

namespace {

void require_known_metrics(const Device& device, const std::vector<std::string>& names) {
  const auto unknown = device.unknown_metrics(names);
  if (unknown.empty()) return;
  const auto lacking = std::find_if(unknown.begin(), unknown.end(), [](const auto& name) { return name.near.empty(); });
  if (device.info().simulated && lacking != unknown.end()) {  // a real GPU may have these counters
    std::vector<std::string> simulated;
    for (const Metric& metric : metrics_table()) {
      const std::string counter(metric.counter);
      if (!counter.empty() && device.unknown_metrics({{counter}}).empty()) simulated.push_back(counter);
    }
    throw CommandError(ExitCode::no_counters, "the simulated {} has no counter {}; available: {}",
                       device.info().limits.name, lacking->name, fmt::join(simulated, ", "));
  }
  Message all;
  for (const auto& metric : unknown) {
    Message one = make_message("unknown metric {}", metric.name);
    if (std::ranges::find(metric.near, metric.name) != metric.near.end()) {
      one = make_message("this GPU does not support metric {}, although CUPTI lists it for its architecture",
                         metric.name);
    } else if (!metric.near.empty()) {
      one = make_message("unknown metric {}; did you mean {}?", metric.name, join_or(metric.near));
    }
    all = all.empty() ? one : make_message("{}; {}", all, one);
  }
  throw CommandError(ExitCode::usage, all);
}

/// Returns the counters of --utilization that the device supports; logs those that it does not.
std::vector<std::string> utilization_counters(const Device& device, Reporter& reporter) {
  if (device.info().simulated) {
    throw CommandError(ExitCode::no_counters,
                       "--utilization requires a GPU, and the {} is simulated (set --device or omit --utilization)",
                       device.info().limits.name);
  }
  std::vector<std::string> counters;
  for (const Metric& metric : metrics_table()) {
    if (metric.why != CounterGroup::none && !metric.counter.empty()) counters.emplace_back(metric.counter);
  }
  std::vector<std::string> lacking;
  for (const Device::UnknownMetric& unknown : device.unknown_metrics(counters)) {
    lacking.emplace_back(find_counter(unknown.name)->key);
    std::erase(counters, unknown.name);
  }
  if (!lacking.empty()) {
    reporter.report(LogEvent{
        "warning", format_text("--utilization: metrics that this GPU does not support: {}", fmt::join(lacking, ", "))});
  }
  return counters;
}

}  // namespace

std::string counters_text(const Device& device, const CollectOptions& options) {
  if (!options.measure.counters) return "not requested";
  const CounterAvailability counters = device.counters();
  if (counters.state == CounterState::available) return "available";
  return counters.fix.empty() ? text(counters.reason) : text(counters.reason) + " " + text(counters.fix);
}

void resolve_counters(CollectOptions& options, const Device& device, Reporter& reporter) {
  require_known_metrics(device, options.measure.extra_metrics);
  if (options.utilization) {
    for (std::string& counter : utilization_counters(device, reporter)) {
      if (std::ranges::find(options.measure.extra_metrics, counter) == options.measure.extra_metrics.end()) {
        options.measure.extra_metrics.push_back(std::move(counter));
      }
    }
  }
  if (options.requires_any_counters() && device.counters().state != CounterState::available) {
    const CounterAvailability counters = device.counters();
    throw CommandError(ExitCode::no_counters, "counters are not available: {} {}", counters.reason, counters.fix);
  }
}

ExitCode exit_code_of_run(const RunStore& store, std::int64_t run, const CollectOptions& options) {
  ExitCode code = ExitCode::ok;
  for (const StoredPoint& point : store.points({{run}})) {
    switch (point.record.disposition) {
      case Disposition::ok:
      case Disposition::infeasible:
      case Disposition::out_of_memory:
        break;  // does not affect the exit code: expected in a sweep
      case Disposition::no_counters:
        if (options.requires_any_counters()) return ExitCode::no_counters;
        break;
      case Disposition::incorrect:
      case Disposition::compile_error:
      case Disposition::timeout:
      case Disposition::crashed:
      case Disposition::cancelled:
        code = ExitCode::partial;
        break;
    }
  }
  return code;
}

void report_done(const RunStore& store, std::int64_t run, const std::string& state, const Message& reason,
                 ExitCode code, Reporter& reporter) {
  std::size_t ok = 0;
  std::size_t points = 0;
  std::size_t infeasible = 0;
  try {
    for (const RunSummary& each : store.runs()) {
      if (each.id != run) continue;
      ok = each.ok_points;
      points = each.points;
    }
    for (const StoredPoint& point : store.points({{run}})) {
      infeasible += point.record.disposition == Disposition::infeasible ? 1U : 0U;
    }
  } catch (const FileError&) {  // ignored; the earlier error is reported
  }
  reporter.report(DoneEvent{state, reason, ok, points - ok, static_cast<int>(code), infeasible});
}

ExitCode finish_lost_run(RunStore& store, std::int64_t run, int losses, const std::string& why, Reporter& reporter) {
  if (losses > 0) {
    store.finish_run(run, StoredRunState::failed);
    report_done(store, run, "device-lost", make_message("device lost at {} consecutive points", losses),
                ExitCode::partial, reporter);
    return ExitCode::partial;
  }
  store.finish_run(run, StoredRunState::interrupted);
  const std::vector<RunSummary> runs = store.runs();
  fail_interrupted({store.file(), *std::ranges::find(runs, run, &RunSummary::id)}, why, reporter);
}

PlanEvent plan_event(const PlannedRun& planned) {
  const DeviceInfo& info = planned.header.device;
  const Shard& shard = planned.header.shard;
  PlanEvent event;
  event.device_name = info.limits.name;
  event.device_uuid = info.uuid;
  event.simulated = info.simulated;
  event.preset = planned.plan->preset;
  event.total = planned.plan->points.size();
  event.rounds = planned.header.rounds;
  if (shard.whole()) return event;
  event.shard = to_string(shard);
  event.shard_points = planned.places.size();
  return event;
}

namespace {

void print_result(const RunStore& store, std::int64_t run, const Output& out) {
  const std::vector runs{run};
  if (out.has_format("text")) return;
  if (out.has_format("csv")) return (void)export_csv(store, runs, std::cout);
  export_json(store, runs, std::cout);
}

/// Adds the groups with open points: bundles and the groups in them by descending duration, so that workers finish at
/// about the same time.
void add_pending_groups(const Recording& recording, SupervisedPlan& supervised) {
  struct WeightedGroup {
    std::int64_t bundle_ms = 0;
    std::size_t bundle = 0;
    std::int64_t ms = 0;
    PointIndices places;
  };
  const std::vector<std::int64_t> ms = predicted_collection_ms(recording.plan().points, known_algorithms());
  const std::vector<std::size_t> open = recording.remaining_rounds();
  std::vector<PointIndices> groups = comparison_groups(recording.plan().points);
  std::erase_if(groups, [&](const PointIndices& group) {
    return std::ranges::none_of(group, [&](std::size_t place) { return open[place] > 0; });
  });
  const std::vector<std::size_t> bundles = input_bundles(recording.plan().points, groups);
  std::vector<WeightedGroup> weighed;
  std::map<std::size_t, std::int64_t> bundle_ms;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    WeightedGroup& group = weighed.emplace_back(WeightedGroup{.bundle = bundles[g], .places = std::move(groups[g])});
    for (const std::size_t place : group.places) group.ms += open[place] > 0 ? ms[place] : 0;
    bundle_ms[group.bundle] += group.ms;
  }
  for (WeightedGroup& group : weighed) group.bundle_ms = bundle_ms.at(group.bundle);
  std::ranges::stable_sort(weighed, std::greater(), [](const WeightedGroup& group) {
    return std::tuple(group.bundle_ms, group.bundle, group.ms);
  });
  for (WeightedGroup& group : weighed) {
    supervised.groups.push_back(std::move(group.places));
    supervised.bundles.push_back(group.bundle);
  }
}

class Collection {
 public:
  Collection(const CollectOptions& options, std::vector<NamedWorker> workers, PlannedRun planned, RunStore store,
             Reporter& reporter, CancelToken& cancel)
      : options_(options),
        max_memory_(max_memory(planned, planned.header.device.limits, cancel, reporter)),
        counters_(counters_text(*workers.front().opened.device, options)),
        reporter_(reporter),
        cancel_(cancel),
        store_(std::move(store)),
        event_(plan_event(planned)),
        recording_(store_, std::move(planned), infos_of(workers), recording_options()),
        estimator_(
            recording_.plan().points, known_algorithms(), recording_.remaining_rounds(),
            [&] { return cancel.cancelled(); }, workers.size()),
        by_worker_(workers.size()) {
    for (NamedWorker& worker : workers) {
      words_.push_back(worker.word);
      uuids_.push_back(worker.opened.device->info().uuid);
      workers_.push_back(
          make_restartable(std::move(worker), options.measure.counters, [this](const Message& why) { warn(why); }));
    }
  }

  ExitCode run() {
    if (options_.resume && !recording_.resumed())
      reporter_.report(LogEvent{"info", "no unfinished run of this plan; starting a new run"});
    event_.database = store_.file().string();
    event_.run_id = recording_.run();
    event_.skipped = recording_.skipped();
    event_.max_memory_bytes = max_memory_;
    event_.counters = counters_;
    if (several()) event_.devices = words_;
    reporter_.report(event_);
    if (recording_.was_complete()) {
      reporter_.report(LogEvent{"info", format_text("run {} is already complete", recording_.run())});
      return done("complete", "nothing left to measure", ExitCode::ok);
    }
    SupervisorOutcome outcome;
    try {
      outcome = supervise(workers_, supervised(), options_.measure, recording_, observer(), cancel_);
      workers_.clear();
      return finish(outcome);
    } catch (const CommandError&) {
      throw;
    } catch (const std::exception& error) {  // e.g. a full disk; stored points are kept and --resume continues
      report_done(store_, recording_.run(), "failed", Message::verbatim(one_line(explain(error))), ExitCode::error,
                  reporter_);
      throw;
    }
  }

 private:
  static std::vector<DeviceInfo> infos_of(const std::vector<NamedWorker>& workers) {
    std::vector<DeviceInfo> infos;
    infos.reserve(workers.size());
    for (const NamedWorker& worker : workers) infos.push_back(worker.opened.device->info());
    return infos;
  }
  Recording::Options recording_options() {
    return {.resume = options_.resume,
            .keep_sources = options_.measure.keep_sources,
            .warn = [this](const Message& why) { warn(why); },
            .on_stored = [this](std::size_t worker, std::size_t place, int round, std::int64_t id,
                                const PointRecord& record) { kept(worker, place, round, id, record); }};
  }
  [[nodiscard]] bool several() const { return words_.size() > 1; }
  [[nodiscard]] std::string device_label(std::size_t worker) const {
    return several() ? words_[worker] : std::string();
  }
  void warn(const Message& why) { reporter_.report(LogEvent{"warning", text(why)}); }

  [[nodiscard]] SupervisedPlan supervised() const {
    SupervisedPlan supervised{
        .plan = &recording_.plan(), .rounds = recording_.rounds(), .done = recording_.previous_progress()};
    if (!several()) {  // in plan order
      supervised.groups = {recording_.places()};
      return supervised;
    }
    add_pending_groups(recording_, supervised);
    for (const PointIndices& group : supervised.groups) {
      const auto begun = std::ranges::find(uuids_, recording_.started_on(group).value_or(std::string()));
      const bool here = begun != uuids_.end();
      supervised.started_on.push_back(here ? std::optional<std::size_t>(begun - uuids_.begin()) : std::nullopt);
    }
    return supervised;
  }

  SupervisorObserver observer() {
    SupervisorObserver observer;
    observer.on_build = [this](std::size_t done, std::size_t total, const BuildReport& report) {
      reporter_.report(BuildEvent{done, total, report.kernel, report.cached, report.error});
    };
    observer.on_point_started = [this](std::size_t worker, std::size_t place, int round) {
      reporter_.report(StartedEvent{.index = place,
                                    .point = describe(recording_.plan().points[place]),
                                    .round = round,
                                    .device = device_label(worker)});
    };
    observer.on_restart = [this](std::size_t worker, const std::string& why) {
      warn(several() ? make_message("device {}: {} Continuing with the next point in a new process.", words_[worker],
                                    as_sentence(why))
                     : make_message("{} Continuing with the next point in a new process.", as_sentence(why)));
    };
    observer.on_removed = [this](std::size_t worker, const std::string& why) {
      ++gone_;
      estimator_.worker_lost();
      if (!several()) return;  // the run then ends with this reason
      warn(make_message("device {} ({}) is lost: {} Other devices take over its points.", words_[worker],
                        uuids_[worker], as_sentence(why)));
    };
    return observer;
  }

  void kept(std::size_t worker, std::size_t place, int round, std::int64_t id, const PointRecord& record) {
    PointEvent event = point_event(place, id, record);
    event.round = round;
    event.rounds = recording_.rounds().count;
    event.device = device_label(worker);
    reporter_.report(event);
    const bool has_times = !record.kernels.empty() && !record.kernels[0].samples_ns.empty();
    const bool ended = !can_remeasure(record.disposition) && record.disposition != Disposition::cancelled;
    estimator_.finished(place, record.wall_seconds, has_times, ended);
    const int rounds = ended ? recording_.rounds().count - round : 1;
    by_worker_[worker] += static_cast<std::size_t>(rounds);
    if (!reporter_.has_reader()) cancel_.cancel();
    report_progress();
  }

  void report_progress() {
    std::size_t done = recording_.skipped();
    for (const std::size_t points : by_worker_) done += points;
    done = std::min(done, recording_.total());  // points restarted on another worker are counted twice
    if (!pace_.is_due(done >= recording_.total())) return;
    reporter_.report(ProgressEvent{.done = done,
                                   .total = recording_.total(),
                                   .elapsed_s = pace_.elapsed_s(),
                                   .remaining_s = estimator_.remaining_seconds().value_or(-1),
                                   .by_device = several() ? by_worker_ : std::vector<std::size_t>()});
  }

  ExitCode finish(const SupervisorOutcome& outcome) {
    if (outcome.complete) {
      store_.finish_run(recording_.run(), StoredRunState::complete);
      const ExitCode code = exit_code_of_run(store_, recording_.run(), options_);
      if (code == ExitCode::ok && recording_.total() > 0) {
        if (const Message why = unmeasured_reason(); !why.empty()) return done("complete", why, ExitCode::partial);
      }
      return done("complete", {}, code == ExitCode::ok && gone_ > 0 ? ExitCode::partial : code);
    }
    if (outcome.cancelled) {
      store_.finish_run(recording_.run(), StoredRunState::cancelled);
      return done("cancelled", "continue with --resume", ExitCode::partial);
    }
    if (!several()) {
      const ExitCode code =
          finish_lost_run(store_, recording_.run(), outcome.losses, outcome.give_up_reason, reporter_);
      print_result(store_, recording_.run(), options_.result);
      return log_skipped_rows(store_, code);
    }
    store_.finish_run(recording_.run(), StoredRunState::failed);
    return done("device-lost", "no device left; continue with --resume", ExitCode::partial);
  }

  /// Why no point was measured; empty if some were.
  [[nodiscard]] Message unmeasured_reason() const {
    const std::vector<RunSummary> runs = store_.runs();
    if (std::ranges::find(runs, recording_.run(), &RunSummary::id)->ok_points > 0) return {};
    const std::vector<StoredPoint> points = store_.points({{recording_.run()}});
    const auto counted_only = [](const StoredPoint& point) {
      return point.record.disposition == Disposition::no_counters;
    };
    if (points.empty()) return "no point was measured";
    if (std::ranges::any_of(points, counted_only)) return {};
    const PointRecord& first = points.front().record;
    return make_message("no point was measured; the first: {}: {}", to_string(first.disposition), first.reason);
  }

  ExitCode done(const std::string& state, const Message& reason, ExitCode code) {
    report_done(store_, recording_.run(), state, reason, code, reporter_);
    print_result(store_, recording_.run(), options_.result);
    return log_skipped_rows(store_, code);
  }

  const CollectOptions& options_;
  std::int64_t max_memory_;  ///< memory of the largest point, in bytes
  std::string counters_;
  Reporter& reporter_;
  CancelToken& cancel_;
  RunStore store_;
  PlanEvent event_;
  Recording recording_;
  ProgressEstimator estimator_;
  ProgressThrottle pace_;
  std::vector<std::string> words_;
  std::vector<std::string> uuids_;
  std::vector<Worker> workers_;
  std::vector<std::size_t> by_worker_;  ///< points measured by each worker
  std::size_t gone_ = 0;                ///< lost workers
};

}  // namespace

ExitCode collect_plan(const CollectOptions& options, std::vector<NamedWorker> workers, PlannedRun planned,
                      const std::optional<UnfinishedRun>& stopped, Reporter& reporter, CancelToken& cancel) {
  std::vector<std::string> uuids;
  uuids.reserve(workers.size());
  for (const NamedWorker& worker : workers) uuids.push_back(worker.opened.device->info().uuid);
  const std::filesystem::path file = stopped ? stopped->file : choose_run_file(options, planned.header, uuids);
  RunStore store = RunStore::open(file, RunStore::Mode::collect);
  if (const Message conflict = shard_conflict(store, planned.header, options.resume); !conflict.empty()) {
    throw CommandError(ExitCode::usage, conflict);
  }
  return Collection(options, std::move(workers), std::move(planned), std::move(store), reporter, cancel).run();
}

}  // namespace attnscope
