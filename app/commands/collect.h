// SPDX-License-Identifier: Apache-2.0
// What the two ways of `attnscope collect` share: a sweep of a plan, and a session that is asked point by point.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "app/reporter.h"
#include "app/sweep_options.h"
#include "profiler/measure/device.h"
#include "storage/run_store.h"

namespace attnscope {

struct CollectOptions {
  CollectOptions(CLI::App& command, Arguments given) : arguments(given), sweep(command, "quick") {}

  Arguments arguments;
  SweepOptions sweep;
  std::string device;
  std::string output;
  std::string ceilings;
  std::vector<std::string> metrics;
  MeasureOptions measure;
  int rounds = 1;
  double timeout_seconds = 15;
  bool why = false;
  bool no_verify = false;
  bool no_counters = false;
  bool require_counters = false;
  bool dry_run = false;
  bool resume = false;
  bool jsonl = false;
  bool serve = false;
  bool quiet = false;
  std::string shard;       ///< as parse_shard() takes it; empty: all of the plan
  std::string collection;  ///< of several recordings of one cut plan, this one's name
  Output result;
  int losses = 0;                ///< internal: points in a row that cost the device before this process took over
  std::string continue_on;       ///< internal: the UUID of that device
  std::string continue_session;  ///< internal: RunHeader::plan_hash of the session that goes on
  int continue_requests = -1;    ///< internal: the descriptor of what it was asked for and has not answered

  [[nodiscard]] bool counters_asked_for() const { return require_counters || why || !metrics.empty(); }
  [[nodiscard]] bool table_on_stdout() const { return !result.is("text"); }
};

/// What --metrics adds to the counters that every pass collects; a name may be ours or Nsight Compute's.
[[nodiscard]] std::vector<std::string> extra_counters(const std::vector<std::string>& names);

/// What is counted is what the device can count: else CommandError.
void settle_counters(CollectOptions& options, const Device& device, Reporter& reporter);

/// "available", or why not.
[[nodiscard]] std::string counters_text(const Device&, const CollectOptions&);

/// The file to continue in: the one named, or the newest of the preset's that has a run of this plan on one of these
/// devices (UUIDs).
[[nodiscard]] std::filesystem::path file_to_write(const CollectOptions&, const RunHeader&,
                                                  const std::vector<std::string>& devices);

/// Says that another program's lock keeps the file from being written, and waits for its end or the user's.
[[nodiscard]] std::function<bool(int)> waiting_for_lock(const std::filesystem::path& file, Reporter&,
                                                        const CancelToken&);

/// What runs that came to their end mean for who started them.
[[nodiscard]] ExitCode exit_code_of_points(const RunStore&, const std::vector<std::int64_t>& runs,
                                           const CollectOptions&);

/// The last event, with the runs' counts over all their processes.
void report_done(const RunStore&, const std::vector<std::int64_t>& runs, const std::string& state,
                 const Message& reason, ExitCode, Reporter&);

/// `--serve`: one run, of what standard input asks for (profiler/measure/requests.h). `header` lacks what the session
/// makes it.
ExitCode serve(const CollectOptions&, Device&, RunHeader header, Reporter&, CancelToken&);

}  // namespace attnscope
