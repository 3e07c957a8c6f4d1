// SPDX-License-Identifier: Apache-2.0
// Shared by the two modes of `attnscope collect`: a planned sweep, and a session that measures points on request.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/output.h"
#include "app/reporter.h"
#include "app/sweep_options.h"
#include "profiler/measure/device.h"
#include "storage/recording.h"
#include "storage/run_store.h"

namespace attnscope {

struct CollectOptions {
  CollectOptions(CLI::App& command, Arguments given) : arguments(given), sweep(command, "quick") {}

  Arguments arguments;
  std::string device;
  std::string ceilings;
  SweepOptions sweep;
  std::string shard;      ///< "K/N", see parse_shard(); empty: the whole plan
  std::string recording;  ///< distinguishes repeated recordings of one sharded plan
  int rounds = 1;
  MeasureOptions measure;
  double timeout_seconds = 15;
  std::vector<std::string> metrics;
  bool utilization = false;
  bool require_counters = false;
  bool no_verify = false;
  bool no_counters = false;
  std::string file;  ///< -o; empty: a default file
  bool resume = false;
  bool dry_run = false;
  bool jsonl = false;
  bool serve = false;
  bool quiet = false;
  Output result;

  [[nodiscard]] bool requires_any_counters() const { return require_counters || utilization || !metrics.empty(); }
};

struct UnfinishedRun {
  std::filesystem::path file;
  RunSummary run;
};
/// Reports that the device of the run cannot be used, and throws CommandError (partial) with the command that continues
/// it.
[[noreturn]] void fail_interrupted(const UnfinishedRun&, const std::string& why, Reporter&);

/// Returns the counters of --metrics that are not collected by default; accepts our names and Nsight Compute's.
[[nodiscard]] std::vector<std::string> extra_counters(const std::vector<std::string>& names);

/// Adds the counters of --utilization. Throws CommandError if the device does not have one of the metrics.
void resolve_counters(CollectOptions& options, const Device& device, Reporter& reporter);

/// Returns "available" or the reason why not.
[[nodiscard]] std::string counters_text(const Device&, const CollectOptions&);

/// Header of the run, without preset and plan.
[[nodiscard]] RunHeader run_header(const CollectOptions&, const OpenedDevice&);

/// Returns the file of -o; with --resume and without -o, the preset's newest file that has a run of this plan on one of
/// these devices (UUIDs); else a new file.
[[nodiscard]] std::filesystem::path choose_run_file(const CollectOptions&, const RunHeader&,
                                                    const std::vector<std::string>& devices);

/// Exit code of a finished run, from the dispositions of its points.
[[nodiscard]] ExitCode exit_code_of_run(const RunStore&, std::int64_t run, const CollectOptions&);

/// Reports the last event, with the run's counts.
void report_done(const RunStore&, std::int64_t run, const std::string& state, const Message& reason, ExitCode,
                 Reporter&);

/// Ends a run whose worker was lost. losses: consecutive losses, or 0 if the worker could not be restarted.
[[nodiscard]] ExitCode finish_lost_run(RunStore&, std::int64_t run, int losses, const std::string& why, Reporter&);

/// Throws CommandError if the user has cancelled before the first measurement.
void throw_if_cancelled(const CancelToken& cancel, Reporter& reporter);

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
