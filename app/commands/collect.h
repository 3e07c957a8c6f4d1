// SPDX-License-Identifier: Apache-2.0
// What the two ways of `attnscope collect` share: a sweep of a plan, and a session that is asked point by point.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/commands/stopped_run.h"
#include "app/output.h"
#include "app/reporter.h"
#include "app/sweep_options.h"
#include "app/workers.h"
#include "profiler/measure/device.h"
#include "storage/recording.h"
#include "storage/run_store.h"

namespace attnscope {

/// Which points, how often.
struct PlanOptions {
  explicit PlanOptions(CLI::App& command) : sweep(command, "quick") {}

  SweepOptions sweep;
  std::string shard;       ///< "K/N", see parse_shard(); empty: the whole plan
  std::string collection;  ///< of several recordings of one cut plan, this one's name
  int rounds = 1;
};

/// How each point is measured.
struct Measurement {
  MeasureOptions options;
  std::vector<std::string> metrics;  ///< --metrics
  bool why = false;
  bool require_counters = false;

  [[nodiscard]] bool counters_demanded() const { return require_counters || why || !metrics.empty(); }
};

/// Output file of the run.
struct Destination {
  std::string file;  ///< -o; empty: one is chosen
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

/// What --metrics adds to the counters that every pass collects; a name may be ours or Nsight Compute's.
[[nodiscard]] std::vector<std::string> extra_counters(const std::vector<std::string>& names);

/// Adds the counters of --why. Throws CommandError if the device cannot count one of the metrics.
void settle_counters(Measurement& measure, const Device& device, Reporter& reporter);

/// "available", or why not.
[[nodiscard]] std::string counters_text(const Device&, const Measurement&);

/// Header of the run, without preset and plan.
[[nodiscard]] RunHeader header_of(const CollectOptions&, const OpenedDevice&);

/// The file to continue in: the one named, or the newest of the preset's that has a run of this plan on one of these
/// devices (UUIDs).
[[nodiscard]] std::filesystem::path file_to_write(const Destination&, const RunHeader&,
                                                  const std::vector<std::string>& devices);

/// Says that another program's lock keeps the file from being written, and waits for its end or the user's.
[[nodiscard]] std::function<bool(int)> waiting_for_lock(const std::filesystem::path& file, Reporter&,
                                                        const CancelToken&);

/// What runs that came to their end mean for who started them.
[[nodiscard]] ExitCode exit_code_of_points(const RunStore&, std::int64_t run, const Measurement&);

/// The last event, with the run's counts.
void report_done(const RunStore&, std::int64_t run, const std::string& state, const Message& reason, ExitCode,
                 Reporter&);

/// Ends a run whose worker was given up. losses: losses in a row, or 0 if the worker could not be restarted.
[[nodiscard]] ExitCode end_lost_run(RunStore&, std::int64_t run, int losses, const std::string& why, Reporter&);

/// Throws CommandError where nothing is begun yet and the user has cancelled.
void stop_if_cancelled(const CancelToken& cancel, Reporter& reporter);

/// How often progress is said, and since when.
class ProgressPace {
 public:
  /// Whether it is time; the last one always is.
  [[nodiscard]] bool due(bool last);
  [[nodiscard]] double elapsed_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// One run of a plan, on one worker or on several. `stopped`: the run that continues, where that decided on which
/// device.
ExitCode collect_plan(const CollectOptions&, std::vector<NamedWorker> workers, PlannedRun planned,
                      const std::optional<StoppedRun>& stopped, Reporter&, CancelToken&);
/// Before it runs: no file, no run, no memory need yet.
[[nodiscard]] PlanEvent plan_event(const PlannedRun&);
/// Device memory of the largest point, in bytes. Throws if cancelled.
[[nodiscard]] std::int64_t max_memory(const PlannedRun&, const DeviceLimits&, const CancelToken&, Reporter&);

/// `--serve`: one run, of what standard input asks for (profiler/worker/requests.h).
ExitCode serve(const CollectOptions&, NamedWorker worker, Reporter&, CancelToken&);

}  // namespace attnscope
