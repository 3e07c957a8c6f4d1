// SPDX-License-Identifier: Apache-2.0
// collect: plan, open, run, keep. After a point that cost the device its context (a fault, a hang) the process replaces
// itself with a fresh one that goes on with the next point: a GPU context cannot be mended, only left behind.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/commands/collect.h"
#include "app/commands/collection.h"
#include "app/commands/several_devices.h"
#include "app/continuation.h"
#include "app/device_list.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/own_kernels.h"
#include "app/reporter.h"
#include "app/run_files.h"
#include "app/sweep_options.h"
#include "app/table.h"
#include "kernels/registry.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"
#include "storage/compared_runs.h"

namespace attnscope {
namespace {

/// Ends the command where nothing is begun yet.
void stop_if_cancelled(const CancelToken& cancel, Reporter& reporter) {
  if (!cancel.cancelled()) return;
  const Message reason = "cancelled before anything was measured";
  reporter.report(DoneEvent{"cancelled", reason, 0, 0, static_cast<int>(ExitCode::partial)});
  throw CommandError(ExitCode::partial, reason);
}

}  // namespace

std::int64_t max_memory(const Collected& collected, const DeviceLimits& limits, const CancelToken& cancel,
                        Reporter& reporter) {
  std::int64_t most = 0;
  for (const std::size_t place : collected.places) {
    stop_if_cancelled(cancel, reporter);
    most = std::max(most, memory_need_bytes(collected.plan->points[place], limits, known_algorithms()));
  }
  return most;
}

namespace {

/// What of the options makes another measurement: part of the plan's hash. What of --why a device counts is its own.
std::string hashed_options(const CollectOptions& options) {
  return fmt::format("counters {} verify {} {}{}{}{}", options.measure.counters, options.measure.verify,
                     fmt::join(extra_counters(options.metrics), ","), options.why ? " why" : "",
                     options.rounds > 1 ? fmt::format(" rounds {}", options.rounds) : "", own_kernels_digest());
}

void print_plan(const Collected& collected, const DeviceInfo& device, std::int64_t free_bytes, Output& out,
                const CancelToken& cancel, Reporter& reporter) {
  Table table{{{"index", true}, {"algorithm"}}, {}};
  append(table.columns, point_columns(known_algorithms()));
  append(table.columns, {{"cache"}, {"memory_bytes", true}, {"expected"}});
  const bool people = out.for_people();
  for (const std::size_t i : collected.places) {
    stop_if_cancelled(cancel, reporter);
    const PointSpec& point = collected.plan->points[i];
    const auto refusal =
        known_algorithms().find(point.algorithm)->refusal(point.problem, point.config(), device.limits);
    const std::int64_t need = refusal ? 0 : memory_need_bytes(point, device.limits, known_algorithms());
    const std::string expected = refusal ? "infeasible: " + text(refusal->reason)
                                 : need > free_bytes
                                     ? "out-of-memory: " + format_text("{} are free", text(Capacity(free_bytes)))
                                     : "";
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {fmt::to_string(i), point.algorithm};
    append(row, point_texts(point, known_algorithms()));
    append(row, {std::string(to_string(point.cache)), people ? text(Capacity(need)) : fmt::to_string(need), expected});
  }
  out.table(people ? without_defaults(table, known_algorithms()) : table, "attnscope-plan");
}

}  // namespace

std::filesystem::path file_to_write(const CollectOptions& options, const RunHeader& header,
                                    const std::vector<std::string>& devices) {
  if (!options.output.empty()) return options.output;
  if (options.resume) {
    for (const std::filesystem::path& file : run_files(header.preset)) {
      try {
        const auto run = newest_run(RunStore::open(file, RunStore::Mode::read_only), header, devices);
        if (run && run->state != StoredRunState::running) return file;
      } catch (const FileError& error) {
        spdlog::warn("{}", format_text("passed over: {}", error.what()));
      }
    }
  }
  std::error_code error;
  std::filesystem::create_directories(runs_folder(), error);
  if (error) {
    throw CommandError(ExitCode::error, "cannot make {} ({}); name a file with -o", runs_folder().string(),
                       error.message());
  }
  return new_run_file(header.preset);
}

std::function<bool(int)> waiting_for_lock(const std::filesystem::path& file, Reporter& reporter,
                                          const CancelToken& cancel) {
  constexpr int first_notice_ms = 2'000;
  constexpr int between_notices_ms = 60'000;
  return [file, &reporter, &cancel, last = 0, next = first_notice_ms](int waited_ms) mutable {
    if (waited_ms < last) next = first_notice_ms;  // another lock than the last time
    last = waited_ms;
    if (waited_ms >= next) {
      next = waited_ms + between_notices_ms;
      reporter.report(
          LogEvent{"warning", format_text("{} is locked by another program; waiting for it to let go ({} s so far)",
                                          file.string(), waited_ms / 1000)});
    }
    return !cancel.cancelled();
  };
}

namespace {

SweepPlan plan_of(const CollectOptions& options, const DeviceLimits& limits, const CancelToken& cancel) {
  return options.sweep.plan(limits, [&] { return cancel.cancelled(); });
}

/// The run that goes on, where it decides on which device: unless the user names one.
std::optional<StoppedRun> run_to_continue(const CollectOptions& options, const CancelToken& cancel) {
  if (!options.continue_on.empty()) return stopped_run_on(options.output, options.continue_on);
  const bool any_gpu = options.device == "gpu";
  if (!options.resume || options.dry_run || !(options.device.empty() || any_gpu)) return std::nullopt;
  if (!options.ceilings.empty()) return std::nullopt;  // only what they are given to knows whose run it is
  if (!options.shard.empty()) return std::nullopt;     // which goes on wherever it is
  const auto hash = [&](const DeviceLimits& limits) -> std::optional<std::string> {
    try {
      return plan_hash(plan_of(options, limits, cancel), hashed_options(options));
    } catch (const CommandError&) {  // nothing of it runs there
      return std::nullopt;
    }
  };
  const std::vector<std::filesystem::path> files =
      options.output.empty() ? run_files(options.sweep.preset()) : std::vector<std::filesystem::path>{options.output};
  std::optional<StoppedRun> stopped = find_stopped_run(files, hash);
  if (stopped && any_gpu && stopped->run.simulated) return std::nullopt;
  return stopped;
}

SweepPlan planned(const CollectOptions& options, const DeviceLimits& limits, const CancelToken& cancel,
                  Reporter& reporter) {
  try {
    return plan_of(options, limits, cancel);
  } catch (const CommandError&) {
    stop_if_cancelled(cancel, reporter);
    throw;
  }
}

/// Whoever asked for no simulation is told of it, wherever he looks.
void announce(const OpenedDevice& opened, const CollectOptions& options, Reporter& reporter, std::FILE* people) {
  if (options.losses > 0) return;
  if (people != nullptr) {
    fmt::print(people, "{}\n", format_text("Device: {}", opened.announcement));
  }
  if (opened.simulated_because.empty()) return;
  const std::string warning = format_text("no GPU is measured, one is simulated: {}", opened.simulated_because);
  reporter.report(LogEvent{"warning", warning});
  if (options.jsonl) spdlog::warn("{}", warning);
}

/// Another one each time: what two recordings have in common should not be the order of their points.
std::uint64_t new_order_seed() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % (1ULL << 53U);
}

RunHeader header_of(const CollectOptions& options, const OpenedDevice& opened) {
  RunHeader header{.device = opened.device->info(),
                   .environment = opened.device->environment(),
                   .preset = {},
                   .argv = {options.arguments.begin(), options.arguments.end()},
                   .plan_hash = {},
                   .planned_points = 0,
                   .options = options.measure,
                   .simulated_because = opened.simulated_because,
                   .rounds = options.rounds,
                   .order_seed = options.rounds > 1 ? new_order_seed() : 0};
  header.environment.app_version = program_version();
  return header;
}

/// The same with what is planned for it.
RunHeader planned_header(const CollectOptions& options, const OpenedDevice& opened, const SweepPlan& plan) {
  RunHeader header = header_of(options, opened);
  header.preset = plan.preset;
  // With other rates it is another prediction.
  header.plan_hash = plan_hash(plan, hashed_options(options) + opened.device->info().rates_from);
  header.planned_points = plan.points.size();
  return header;
}

/// --dry-run.
ExitCode say_plan(CollectOptions& options, const Collected& collected, const Device& device, Reporter& reporter,
                  std::FILE* people, const CancelToken& cancel) {
  const DeviceInfo& info = device.info();
  const std::int64_t most = max_memory(collected, info.limits, cancel, reporter);
  if (options.jsonl) {
    PlanEvent event = plan_event(collected);
    event.database = options.output;
    event.max_memory_bytes = most;
    event.counters = counters_text(device, options);
    reporter.report(event);
    reporter.report(DoneEvent{"complete", "nothing was run", 0, 0, 0});
    return ExitCode::ok;
  }
  print_plan(collected, info, device.free_bytes(), options.result, cancel, reporter);
  if (people != nullptr) {
    fmt::print(
        people, "{}\n",
        format_text("{}, at most {} of device memory, {} free", counted_points(collected.places.size(), options.rounds),
                    text(Capacity(most)), text(Capacity(device.free_bytes()))));
  }
  return ExitCode::ok;
}

/// Ends the process at once where the device was lost: the driver's own exit handlers may wait for a kernel that never
/// ends.
ExitCode leave(const Device& device, ExitCode code, Reporter& reporter, Output& out) {
  if (device.usable()) return code;
  reporter.flush();
  out.finish();
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

ExitCode sweep(CollectOptions& options, Reporter& reporter, std::FILE* people, CancelToken& cancel) {
  if (const auto words = several_devices(options.device); words && options.dry_run) {
    options.device = words->front();
  } else if (words) {
    const Planner planner{
        .plan = [&](const DeviceLimits& limits) { return planned(options, limits, cancel, reporter); },
        .header = [&](const OpenedDevice& one, const SweepPlan& plan) { return planned_header(options, one, plan); }};
    return collect_on_several(options, *words, planner, reporter, people, cancel);
  }
  const std::optional<StoppedRun> stopped = run_to_continue(options, cancel);
  OpenedDevice opened = stopped ? open_device_of(*stopped, options.device, options.measure.counters, reporter,
                                                 waiting_for_lock(stopped->file, reporter, cancel))
                                : open_device(options.device, options.measure.counters, options.ceilings);
  Device& device = *opened.device;
  announce(opened, options, reporter, people);

  if (options.serve) {
    settle_counters(options, device, reporter);
    return leave(device, serve(options, device, header_of(options, opened), reporter, cancel), reporter,
                 options.result);
  }

  const SweepPlan plan = planned(options, device.info().limits, cancel, reporter);
  settle_counters(options, device, reporter);
  if (device.info().simulated && options.rounds > 1) {
    if (options.losses == 0)
      reporter.report(
          LogEvent{"warning", "a simulation gives the same in every round: it is played once, without --rounds"});
    options.rounds = 1;
  }
  Collected collected = collected_of(plan, planned_header(options, opened, plan), options);
  if (options.dry_run) return say_plan(options, collected, device, reporter, people, cancel);

  // After a restart the plan is not said again.
  const std::int64_t most = options.losses > 0 ? 0 : max_memory(collected, device.info().limits, cancel, reporter);
  const std::filesystem::path file =
      stopped ? stopped->file : file_to_write(options, collected.header, {device.info().uuid});
  RunStore store = RunStore::open(file, RunStore::Mode::collect, waiting_for_lock(file, reporter, cancel));
  const ExitCode code = run_collection(options, std::move(collected), most, device, std::move(store), reporter, cancel);
  return leave(device, code, reporter, options.result);
}

ExitCode collect(CollectOptions& options) {
  options.measure.counters = !options.no_counters;
  options.measure.verify = !options.no_verify;
  options.measure.max_samples = std::max(options.measure.max_samples, options.measure.min_samples);
  options.measure.timeout = std::chrono::milliseconds(std::llround(options.timeout_seconds * 1000));
  options.measure.extra_metrics = extra_counters(options.metrics);

  CancelToken& cancel = cancel_on_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away cancels; it does not kill
  options.jsonl = options.jsonl || options.serve;
  if (options.jsonl && !options.serve) cancel_on_stdin(cancel);

  // People read what happens on stdout, unless that belongs to a table.
  std::FILE* people = options.quiet || options.jsonl ? nullptr : options.table_on_stdout() ? stderr : stdout;
  const std::unique_ptr<Reporter> reporter = options.serve   ? make_session_reporter()
                                             : options.jsonl ? make_jsonl_reporter()
                                                             : make_text_reporter(people);
  try {
    return sweep(options, *reporter, people, cancel);
  } catch (const std::exception& error) {
    if (options.jsonl && !reporter->ended()) {
      const auto* known = dynamic_cast<const CommandError*>(&error);
      const ExitCode code = known != nullptr ? known->code() : ExitCode::error;
      const Message why = known != nullptr ? known->message() : Message::verbatim(one_line(explain(error)));
      reporter->report(DoneEvent{"failed", why, 0, 0, static_cast<int>(code)});
    }
    throw;
  }
}

}  // namespace

Action add_collect(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<CollectOptions>(command, arguments);
  command
      .add_option("-o,--output", options->output,
                  "File to write or continue (default: $XDG_DATA_HOME/attnscope/runs/<preset>-<time>.attnscope)")
      ->type_name("FILE");
  command.add_option("-d,--device", options->device, std::string(device_help) + several_devices_help)
      ->type_name("DEVICE")
      ->take_last();
  CLI::Option* shard =
      command
          .add_option("--shard", options->shard,
                      "Only part K of N of the plan, with maps and curves whole: what `attnscope merge` joins again. "
                      "On any machine the same cut, balanced by predicted time")
          ->type_name("K/N");
  command
      .add_option("--collection", options->collection,
                  "A name for the recording that the shards are of, where one plan is recorded in shards several times")
      ->type_name("NAME")
      ->needs(shard);
  command
      .add_option(
          "--ceilings", options->ceilings,
          "Of a simulated device: predict times with the rates that `attnscope ceilings` measured of such a GPU "
          "into FILE")
      ->type_name("FILE");
  command
      .add_option("--metrics", options->metrics,
                  "More counters, by their Nsight Compute names, separated by commas; demands counters")
      ->type_name("NAMES")
      ->delimiter(',');
  command.add_flag("--why", options->why,
                   "Count the use of each unit, too: tensor cores, XU, FMA, shared memory and its bank conflicts, L2, "
                   "DRAM, and what warps wait for; demands counters");
  command.add_option("--min-samples", options->measure.min_samples, "Timing samples to take at least")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      .add_option("--max-noise", options->measure.max_noise,
                  "Sample until the interquartile range is below this share of the median")
      ->check(number_within(1e-6, 10.0))
      ->capture_default_str();
  command
      .add_option("--rounds", options->rounds,
                  "Measure all points so often, each time in another order: what a verdict of `attnscope compare` "
                  "rests on is the spread between rounds")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--timeout", options->timeout_seconds, "Seconds for one point")
      ->check(number_within(0.001, 86400.0))
      ->capture_default_str();
  command.add_flag("--keep-sources", options->measure.keep_sources,
                   "Of kernels of your own, keep the texts of their files in the output, not only their digests");
  command.add_flag("--no-verify", options->no_verify, "Do not compare outputs with the reference");
  CLI::Option* no_counters = command.add_flag("--no-counters", options->no_counters, "Timing and occupancy only");
  command.add_flag("--require-counters", options->require_counters, "Exit with 3 when counters are not available")
      ->excludes(no_counters);
  command.get_option("--metrics")->excludes(no_counters);
  command.get_option("--why")->excludes(no_counters);
  command.add_flag("--dry-run", options->dry_run, "Print the plan with its memory need, and run nothing");
  command.add_flag("--resume", options->resume,
                   "Continue the last run of this plan on this device, if it is unfinished");
  CLI::Option* jsonl =
      command.add_flag("--jsonl", options->jsonl,
                       "Events as JSON lines on stdout; \"cancel\" or the end of stdin stops after the current launch");
  CLI::Option* serve = command.add_flag(
      "--serve", options->serve,
      "Measure what JSON lines on stdin ask for, one by one, until {\"request\":\"end\"}; the end of stdin without "
      "it cancels what waits. Events on stdout as with --jsonl. Requests: cancel, cancel-all, end, and "
      "{\"request\":\"measure\",\"id\":\"1\",\"point\":{\"algorithm\":NAME,\"N\":4096}}");
  for (const char* name : {"--preset", "--axis", "--algorithms", "--dry-run", "--resume", "--rounds", "--shard"}) {
    command.get_option(name)->excludes(serve);
  }
  command.add_flag("-q,--quiet", options->quiet, "No lines while running");
  options->result.add_to(command, Output::tables, Output::File::no);
  options->result.exclude(jsonl);
  options->result.exclude(serve);
  command.add_option("--continue-after", options->losses)->group("");  // internal, see continuation.h
  command.add_option("--continue-on", options->continue_on)->group("");
  command.add_option("--continue-session", options->continue_session)->group("");
  command.add_option("--continue-requests", options->continue_requests)->group("");
  return [options] { return options->result.run([&] { return collect(*options); }); };
}

}  // namespace attnscope
