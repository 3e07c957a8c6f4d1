// SPDX-License-Identifier: Apache-2.0
#include "app/commands/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include "app/command.h"
#include "app/continuation.h"
#include "kernels/registry.h"
#include "profiler/measure/progress.h"
#include "profiler/measure/runner.h"
#include "profiler/measure/shared_sweep.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "storage/exchange/export.h"

namespace attnscope {

ExitCode exit_code_of_points(const RunStore& store, const std::vector<std::int64_t>& runs,
                             const CollectOptions& options) {
  ExitCode code = ExitCode::ok;
  for (const StoredPoint& point : store.points(runs)) {
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

void report_done(const RunStore& store, const std::vector<std::int64_t>& runs, const std::string& state,
                 const Message& reason, ExitCode code, Reporter& reporter) {
  std::size_t ok = 0;
  std::size_t points = 0;
  try {
    for (const RunSummary& run : store.runs()) {
      if (std::ranges::find(runs, run.id) == runs.end()) continue;
      ok += run.ok_points;
      points += run.points;
    }
  } catch (const FileError&) {  // already failing for a reason of its own
  }
  reporter.report(DoneEvent{state, reason, ok, points - ok, static_cast<int>(code)});
}

void print_result(const RunStore& store, const std::vector<std::int64_t>& runs, Output& out) {
  if (out.is("text")) return;
  if (out.is("csv")) return (void)export_csv(store, runs, std::cout);
  if (out.is("json")) return export_json({.store = &store, .runs = runs}, std::cout);
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
  for (const StoredPoint& point : store.points(runs)) {
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

bool ProgressPace::due(bool last) {
  const Clock::time_point now = Clock::now();
  if (!last && now - last_ < std::chrono::milliseconds(250)) return false;
  last_ = now;
  return true;
}

double ProgressPace::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool has_times(const PointRecord& record) {
  return !record.kernels.empty() && !record.kernels[0].samples_ns.empty();
}

namespace {

/// One sweep on one device: from an open device and store to the exit code.
class Collection {
 public:
  Collection(CollectOptions& options, Collected collected, std::int64_t max_memory, Device& device, RunStore store,
             Reporter& reporter, const CancelToken& cancel)
      : options_(options),
        max_memory_(max_memory),
        device_(device),
        store_(std::move(store)),
        reporter_(reporter),
        recording_(store_, std::move(collected), {device.info().uuid}, options, reporter),
        estimator_(recording_.plan().points, known_algorithms(), recording_.open_times(),
                   [&] { return cancel.cancelled(); }) {}

  ExitCode run(CancelToken& cancel) {
    if (options_.losses == 0) {
      reporter_.report(recording_.plan_event(max_memory_, counters_text(device_, options_)));
    } else {
      reporter_.go_on(recording_.plan().points.size(), recording_.rounds().count);
    }
    if (recording_.complete_before()) {
      reporter_.report(LogEvent{"info", format_text("complete already: run {}", recording_.run())});
      return done("complete", "nothing was left to do", ExitCode::ok);
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
      const RunOutcome outcome = run_sweep(recording_.plan(), device_, options_.measure, recording_.rounds(),
                                           recording_.done_before(), observer, cancel);
      return finish(outcome, cancel);
    } catch (const std::exception& error) {  // a full disk: what was kept stays, the rest can be resumed
      done("failed", Message::verbatim(one_line(explain(error))), ExitCode::error);
      throw;
    }
  }

 private:
  void keep(std::size_t index, const PointRecord& record, const RunCounts& counts) {
    recording_.keep(index, round_, record, device_.info());
    any_ok_ = any_ok_ || record.disposition == Disposition::ok;
    estimator_.finished(index, record.wall_seconds, has_times(record), !measured_again(record.disposition));
    const std::size_t done = recording_.skipped() + counts.done;
    if (!pace_.due(done >= recording_.total())) return;
    reporter_.report(ProgressEvent{.done = done,
                                   .total = recording_.total(),
                                   .elapsed_s = pace_.elapsed_s(),
                                   .remaining_s = estimator_.remaining_seconds().value_or(-1)});
  }

  ExitCode finish(const RunOutcome& outcome, const CancelToken& cancel) {
    const bool lost = outcome.state == RunState::device_lost;
    const bool open = recording_.skipped() + outcome.counts.done < recording_.total();
    if (outcome.state == RunState::cancelled || (lost && open && cancel.cancelled())) {
      store_.finish_run(recording_.run(), StoredRunState::cancelled);
      return done("cancelled", "continue with --resume", ExitCode::partial);
    }
    if (lost && open) {
      const int losses = any_ok_ ? 1 : options_.losses + 1;
      if (losses <= most_losses_in_a_row) {
        reporter_.report(
            LogEvent{"warning", format_text("{} Going on with the next point in a fresh process.", outcome.reason)});
        const std::filesystem::path file = store_.file();
        restart(options_.arguments, {.file = file,
                                     .device_uuid = device_.info().uuid,
                                     .losses = losses,
                                     .names_file = !options_.output.empty(),
                                     .resumes = options_.resume});
        throw CommandError(ExitCode::error, "cannot restart to continue the run ({}); continue it with --resume -o {}",
                           std::strerror(errno), file.string());
      }
      store_.finish_run(recording_.run(), StoredRunState::failed);
      return done("device-lost", make_message("{} points in a row cost the device", losses), ExitCode::partial);
    }
    store_.finish_run(recording_.run(), StoredRunState::complete);
    return done("complete", {}, lost ? ExitCode::partial : exit_code_of_points(store_, {recording_.run()}, options_));
  }

  /// The last event, with the run's counts over all its processes; then the table that was asked for.
  ExitCode done(const std::string& state, const Message& reason, ExitCode code) {
    report_done(store_, {recording_.run()}, state, reason, code, reporter_);
    if (state == "failed") return code;
    print_result(store_, {recording_.run()}, options_.result);
    return with_skipped_rows(store_, code);
  }

  CollectOptions& options_;
  std::int64_t max_memory_;  ///< bytes, of the largest point
  Device& device_;
  RunStore store_;
  Reporter& reporter_;
  Recording recording_;
  ProgressEstimator estimator_;
  ProgressPace pace_;
  int round_ = 0;  ///< under way
  bool any_ok_ = false;
};

}  // namespace

ExitCode run_collection(CollectOptions& options, Collected collected, std::int64_t max_memory, Device& device,
                        RunStore store, Reporter& reporter, CancelToken& cancel) {
  return Collection(options, std::move(collected), max_memory, device, std::move(store), reporter, cancel).run(cancel);
}

}  // namespace attnscope
