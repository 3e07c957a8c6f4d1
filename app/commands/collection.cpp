// SPDX-License-Identifier: Apache-2.0
#include "app/commands/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "app/continuation.h"
#include "app/own_kernels.h"
#include "app/skipped_rows.h"
#include "kernels/registry.h"
#include "messages/collect.h"
#include "messages/command.h"
#include "profiler/measure/progress.h"
#include "profiler/measure/runner.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/metrics/statement.h"
#include "storage/compared_runs.h"
#include "storage/exchange/export.h"

namespace attnscope {

std::optional<RunSummary> newest_run(const RunStore& store, const RunHeader& header) {
  std::optional<RunSummary> newest;
  for (RunSummary& run : store.runs()) {
    if (run.plan_hash == header.plan_hash && run.device_uuid == header.device.uuid) newest = std::move(run);
  }
  return newest;
}

ExitCode exit_code_of_points(const RunStore& store, std::int64_t run, const CollectOptions& options) {
  ExitCode code = ExitCode::ok;
  for (const StoredPoint& point : store.points({{run}})) {
    switch (point.record.disposition) {
      case Disposition::ok:
      case Disposition::infeasible:
      case Disposition::out_of_memory:
        break;  // what the sweep set out to find
      case Disposition::no_counters:
        if (options.counters_asked_for()) return ExitCode::no_counters;
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

void report_done(const RunStore& store, std::int64_t run_id, const std::string& state, const Message& reason,
                 ExitCode code, Reporter& reporter) {
  std::size_t ok = 0;
  std::size_t points = 0;
  try {
    for (const RunSummary& run : store.runs()) {
      if (run.id != run_id) continue;
      ok = run.ok_points;
      points = run.points;
    }
  } catch (const StorageError&) {  // already failing for a reason of its own
  }
  reporter.report(DoneEvent{state, reason, ok, points - ok, static_cast<int>(code)});
}

namespace {

using Clock = std::chrono::steady_clock;

/// One sweep: from an open device and store to the exit code.
class Collection {
 public:
  Collection(CollectOptions& options, const SweepPlan& plan, std::int64_t max_memory, Device& device, RunStore store,
             const RunHeader& header, Reporter& reporter, const CancelToken& cancel)
      : options_(options),
        plan_(plan),
        max_memory_(max_memory),
        device_(device),
        store_(std::move(store)),
        reporter_(reporter),
        rounds_{.count = header.rounds, .seed = header.order_seed} {
    if (options.resume) {
      const std::optional<RunSummary> newest = newest_run(store_, header);
      complete_before_ = newest && newest->state == StoredRunState::complete;
      if (!newest && !options.continue_on.empty()) {
        throw CommandError(ExitCode::error, say::command::nothing_to_continue{.file = store_.file().string()});
      }
      if (!newest) reporter.report(LogEvent{"info", text(say::command::nothing_to_resume{})});
      if (newest) run_ = complete_before_ ? newest->id : store_.resume_run(header).value_or(0);
    }
    if (run_ == 0) run_ = store_.begin_run(header);
    for (const RunSummary& run : store_.runs()) {
      if (run.id == run_) rounds_.seed = run.order_seed;  // of a run that goes on, its own
    }
    find_done();
    std::vector<std::size_t> times;
    for (const DoneBefore& point : done_before_) {
      times.push_back(point.ended ? 0 : static_cast<std::size_t>(rounds_.count) - point.rounds.size());
      skipped_ += static_cast<std::size_t>(rounds_.count) - times.back();
    }
    estimator_.emplace(plan.points, known_algorithms(), std::move(times), [&] { return cancel.cancelled(); });
  }

  ExitCode run(CancelToken& cancel) {
    if (options_.losses == 0) {
      report_plan();
    } else {
      reporter_.go_on(plan_.points.size(), rounds_.count);
    }
    if (complete_before_) {
      reporter_.report(LogEvent{"info", text(say::command::complete_already{.run = run_})});
      return done("complete", say::collect::nothing_left{}, ExitCode::ok);
    }
    RunObserver observer;
    observer.on_build = [this](std::size_t done, std::size_t total, const BuildReport& report) {
      reporter_.report(BuildEvent{done, total, report.kernel, report.cached, report.error});
    };
    observer.on_round = [this](int round) { round_ = round; };
    observer.on_point_started = [this](std::size_t index, const PointSpec& spec) {
      reporter_.report(StartedEvent{.index = index, .point = describe(spec), .round = round_});
    };
    observer.on_point = [&](std::size_t index, const PointRecord& record, const RunCounts& counts) {
      keep(index, record, counts);
      if (!reporter_.listened_to()) cancel.cancel();
    };
    try {
      const RunOutcome outcome = run_sweep(plan_, device_, options_.measure, rounds_, done_before_, observer, cancel);
      return finish(outcome, cancel);
    } catch (const std::exception& error) {  // a full disk: what was kept stays, the rest can be resumed
      done("failed", Message::verbatim(one_line(explain(error))), ExitCode::error);
      throw;
    }
  }

 private:
  void report_plan() {
    const DeviceInfo& info = device_.info();
    reporter_.report(PlanEvent{.version = 1,
                               .device_name = info.limits.name,
                               .device_uuid = info.uuid,
                               .simulated = info.simulated,
                               .preset = plan_.preset,
                               .database = store_.file().string(),
                               .run_id = run_,
                               .total = plan_.points.size(),
                               .skipped = skipped_,
                               .max_memory_bytes = max_memory_,
                               .counters = counters_text(device_, options_),
                               .rounds = rounds_.count});
  }

  /// What a run that goes on has already.
  void find_done() {
    done_before_.resize(plan_.points.size());
    for (const MeasuredRounds& point : store_.measured_rounds(run_)) {
      if (point.index >= done_before_.size()) {
        const Message beyond =
            say::command::place_beyond_plan{.run = run_, .place = point.index, .points = done_before_.size()};
        reporter_.report(LogEvent{"warning", text(beyond)});
        continue;
      }
      DoneBefore& done = done_before_[point.index];
      kept_.insert(point.index);
      done.ended = rounds_.count == 1 || !measured_again(point.disposition);
      for (const int round : point.rounds) {
        if (round < rounds_.count) done.rounds.insert(round);
      }
    }
  }

  void keep(std::size_t index, const PointRecord& measured, const RunCounts& counts) {
    PointRecord record = storable(measured);
    if (options_.measure.keep_sources && record.statement) record.statement = with_sources(record);
    const bool has_rounds = kept_.contains(index);
    // Cancelled in a later round: what the others found stays as it is, and the round is as if never begun.
    if (has_rounds && record.disposition == Disposition::cancelled) return;
    const std::int64_t id =
        has_rounds ? store_.add_round(run_, index, round_, record) : store_.add_point(run_, index, record);
    if (record.disposition != Disposition::cancelled) kept_.insert(index);
    say_what_is_not_kept(record);
    PointEvent event = point_event(index, id, record);
    event.round = round_;
    event.rounds = rounds_.count;
    reporter_.report(event);
    any_ok_ = any_ok_ || record.disposition == Disposition::ok;
    estimator_->finished(index, record.wall_seconds, !record.kernels.empty() && !record.kernels[0].samples_ns.empty(),
                         !measured_again(record.disposition));

    const std::size_t done = skipped_ + counts.done;
    const Clock::time_point now = Clock::now();
    if (done < counts.total && now - last_progress_ < std::chrono::milliseconds(250)) return;
    last_progress_ = now;
    reporter_.report(ProgressEvent{.done = done,
                                   .total = counts.total,
                                   .elapsed_s = std::chrono::duration<double>(now - start_).count(),
                                   .remaining_s = estimator_->remaining_seconds().value_or(-1)});
  }

  /// One object for each statement. A process that measures libraries sends no contents: they are read here.
  std::shared_ptr<const KernelStatement> with_sources(const PointRecord& record) {
    auto& kept = with_sources_[digest_of(*record.statement)];
    if (!kept) kept = with_contents(record.statement, record.spec.algorithm);
    return kept;
  }

  /// Of sources that were to be kept: once for each statement.
  void say_what_is_not_kept(const PointRecord& record) {
    if (!options_.measure.keep_sources || !record.statement) return;
    const auto files = std::ranges::count(record.statement->sources, false,
                                          [](const StatementSource& source) { return source.content.has_value(); });
    if (files == 0 || !said_.insert(record.statement).second) return;
    reporter_.report(
        LogEvent{"warning", text(say::collect::sources_left_out{.kernel = record.spec.algorithm, .files = files})});
  }

  ExitCode finish(const RunOutcome& outcome, const CancelToken& cancel) {
    const bool lost = outcome.state == RunState::device_lost;
    const bool open = skipped_ + outcome.counts.done < outcome.counts.total;
    if (outcome.state == RunState::cancelled || (lost && open && cancel.cancelled())) {
      store_.finish_run(run_, StoredRunState::cancelled);
      return done("cancelled", say::collect::continue_with_resume{}, ExitCode::partial);
    }
    if (lost && open) {
      const int losses = any_ok_ ? 1 : options_.losses + 1;
      if (losses <= max_losses) {
        reporter_.report(LogEvent{"warning", text(say::command::going_on{.reason = outcome.reason})});
        const std::filesystem::path file = store_.file();
        restart(options_.arguments, {.file = file,
                                     .device_uuid = device_.info().uuid,
                                     .losses = losses,
                                     .names_file = !options_.output.empty(),
                                     .resumes = options_.resume});
        throw CommandError(ExitCode::error,
                           say::command::cannot_restart{.error = std::strerror(errno), .file = file.string()});
      }
      store_.finish_run(run_, StoredRunState::failed);
      return done("device-lost", say::collect::devices_lost{.points = losses}, ExitCode::partial);
    }
    store_.finish_run(run_, StoredRunState::complete);
    return done("complete", {}, lost ? ExitCode::partial : exit_code_of_points(store_, run_, options_));
  }

  /// The last event, with the run's counts over all its processes; then the table that was asked for.
  ExitCode done(const std::string& state, const Message& reason, ExitCode code) {
    report_done(store_, run_, state, reason, code, reporter_);
    if (state == "failed") return code;
    print_result();
    return with_skipped_rows(store_, code);
  }

  void print_result() const {
    Output& out = options_.result;
    if (out.is("text")) return;
    if (out.is("csv")) return (void)export_csv(store_, {{run_}}, std::cout);
    if (out.is("json")) return export_json({.store = &store_, .runs = {run_}}, std::cout, out.json_version());
    Table table{{{"point"},
                 {"disposition"},
                 {"provenance"},
                 {"time", true},
                 {"rate", true},
                 {"DRAM", true},
                 {"SM<->L2", true},
                 {"model", true},
                 {"occupancy", true},
                 {"reason"}},
                {}};
    for (const StoredPoint& point : store_.points({{run_}})) {
      const auto field = [&](std::string_view key) {
        const std::optional<MetricValue> metric = evaluate(key, point.record);
        return metric ? metric_text(*metric) : std::string();
      };
      table.rows.push_back({describe(point.record.spec), std::string(to_string(point.record.disposition)),
                            text(title(point.record.origin())), field(metric_key::time_median_ns),
                            field(metric_key::tflops), field(metric_key::dram_bytes), field(metric_key::l2_sm_bytes),
                            field(metric_key::model_l2_sm_bytes), field(metric_key::achieved_occupancy_pct),
                            text(point.record.reason)});
    }
    out.table(table);
  }

  CollectOptions& options_;
  const SweepPlan& plan_;
  std::int64_t max_memory_;  ///< bytes, of the largest point
  Device& device_;
  RunStore store_;
  Reporter& reporter_;
  std::int64_t run_ = 0;
  bool complete_before_ = false;  ///< --resume found nothing left to do
  SweepRounds rounds_;
  int round_ = 0;  ///< under way
  std::vector<DoneBefore> done_before_;
  std::set<std::size_t> kept_;  ///< places of the points that the file has
  std::size_t skipped_ = 0;     ///< rounds of points
  std::map<std::string, std::shared_ptr<const KernelStatement>> with_sources_;  ///< by digest
  std::set<std::shared_ptr<const KernelStatement>> said_;                       ///< of which some sources are not kept
  std::optional<ProgressEstimator> estimator_;
  bool any_ok_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_progress_{};
};

}  // namespace

ExitCode run_collection(CollectOptions& options, const SweepPlan& plan, std::int64_t max_memory, Device& device,
                        RunStore store, const RunHeader& header, Reporter& reporter, CancelToken& cancel) {
  return Collection(options, plan, max_memory, device, std::move(store), header, reporter, cancel).run(cancel);
}

}  // namespace attnscope
