// SPDX-License-Identifier: Apache-2.0
// Shared by the two modes of `attnscope collect`: a planned sweep, and a session that measures points on request.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/commands/unfinished_run.h"
#include "app/output.h"
#include "app/reporter.h"
#include "app/sweep_options.h"
#include "app/workers.h"
#include "profiler/measure/device.h"
#include "storage/recording.h"
#include "storage/run_store.h"

namespace attnscope {

/// Points of the sweep and number of rounds.
struct PlanOptions {
  explicit PlanOptions(CLI::App& command) : sweep(command, "quick") {}

  SweepOptions sweep;
  std::string shard;       ///< "K/N", see parse_shard(); empty: the whole plan
  std::string collection;  ///< distinguishes repeated recordings of one sharded plan
  int rounds = 1;
};

struct Measurement {
  MeasureOptions options;
  std::vector<std::string> metrics;  ///< --metrics
  bool why = false;
  bool require_counters = false;

  [[nodiscard]] bool requires_any_counters() const { return require_counters || why || !metrics.empty(); }
};

struct Destination {
  std::string file;  ///< -o; empty: a default file
  bool resume = false;
  Output result;
};

struct CollectOptions {
  CollectOptions(CLI::App& command, Arguments given) : arguments(given), plan(command) {}

  Arguments arguments;
  std::string device;    ///< --device
  std::string ceilings;  ///< --ceilings
  PlanOptions plan;
  Measurement measure;
  Destination to;
};

/// Returns the counters of --metrics that are not collected by default; accepts our names and Nsight Compute's.
[[nodiscard]] std::vector<std::string> extra_counters(const std::vector<std::string>& names);

/// Adds the counters of --utilization. Throws CommandError if the device does not have one of the metrics.
void resolve_counters(Measurement& measure, const Device& device, Reporter& reporter);

/// Returns "available" or the reason why not.
[[nodiscard]] std::string counters_text(const Device&, const Measurement&);

/// Header of the run, without preset and plan.
[[nodiscard]] RunHeader run_header(const CollectOptions&, const OpenedDevice&);

/// Returns the file of -o; with --resume and without -o, the preset's newest file that has a run of this plan on one of
/// these devices (UUIDs); else a new file.
[[nodiscard]] std::filesystem::path choose_run_file(const Destination&, const RunHeader&,
                                                    const std::vector<std::string>& devices);

/// Returns a callback that logs that the file is locked and waits until it is unlocked or the user cancels.
[[nodiscard]] std::function<bool(int)> make_lock_callback(const std::filesystem::path& file, Reporter&,
                                                          const CancelToken&);

/// Exit code of a finished run, from the dispositions of its points.
[[nodiscard]] ExitCode exit_code_of_run(const RunStore&, std::int64_t run, const Measurement&);

/// Reports the last event, with the run's counts.
void report_done(const RunStore&, std::int64_t run, const std::string& state, const Message& reason, ExitCode,
                 Reporter&);

/// Ends a run whose worker was lost. losses: consecutive losses, or 0 if the worker could not be restarted.
[[nodiscard]] ExitCode finish_lost_run(RunStore&, std::int64_t run, int losses, const std::string& why, Reporter&);

/// Throws CommandError if the user has cancelled before the first measurement.
void throw_if_cancelled(const CancelToken& cancel, Reporter& reporter);

/// Limits the rate of progress events, and measures elapsed time.
class ProgressThrottle {
 public:
  /// Returns whether an event is due; always true for the last one.
  [[nodiscard]] bool is_due(bool last);
  [[nodiscard]] double elapsed_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// Runs a plan on one or several workers. `stopped`: the run to continue, if --resume found one.
ExitCode collect_plan(const CollectOptions&, std::vector<NamedWorker> workers, PlannedRun planned,
                      const std::optional<UnfinishedRun>& stopped, Reporter&, CancelToken&);
/// Plan event of a run that has not begun: without file, run and memory need.
[[nodiscard]] PlanEvent plan_event(const PlannedRun&);
/// Returns the device memory of the largest point in bytes. Throws if cancelled.
[[nodiscard]] std::int64_t max_memory(const PlannedRun&, const DeviceLimits&, const CancelToken&, Reporter&);

/// `--serve`: measures the points requested on stdin (profiler/worker/requests.h) as one run.
ExitCode serve(const CollectOptions&, NamedWorker worker, Reporter&, CancelToken&);

}  // namespace attnscope
