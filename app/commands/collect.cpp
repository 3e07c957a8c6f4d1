// SPDX-License-Identifier: Apache-2.0
// collect: plans a sweep, opens workers, measures and stores it.
#include "app/commands/collect.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/loaded_points.h"
#include "app/output.h"
#include "app/reporter.h"
#include "app/run_files.h"
#include "app/user_kernels.h"
#include "kernels/registry.h"
#include "profiler/measure/device.h"
#include "profiler/plan/presets.h"
#include "profiler/units/number_format.h"

namespace attnscope {

void fail_interrupted(const UnfinishedRun& stopped, const std::string& why, Reporter& reporter) {
  const RunSummary& run = stopped.run;
  const Message reason =
      make_message("{} ({}) of run {} cannot be used: {} Then continue the run with --resume -o {}", run.device_name,
                   run.device_uuid, run.id, as_sentence(why), stopped.file.string());
  reporter.report(
      DoneEvent{"interrupted", reason, run.ok_points, run.points - run.ok_points, static_cast<int>(ExitCode::partial)});
  throw CommandError(ExitCode::partial, reason);
}

void throw_if_cancelled(const CancelToken& cancel, Reporter& reporter) {
  if (!cancel.cancelled()) return;
  const Message reason = "cancelled before the first measurement";
  reporter.report(DoneEvent{"cancelled", reason, 0, 0, static_cast<int>(ExitCode::partial)});
  throw CommandError(ExitCode::partial, reason);
}

std::int64_t max_memory(const PlannedRun& planned, const DeviceLimits& limits, const CancelToken& cancel,
                        Reporter& reporter) {
  std::int64_t most = 0;
  for (const std::size_t place : planned.places) {
    throw_if_cancelled(cancel, reporter);
    most = std::max(most, required_memory_bytes(planned.plan->points[place], limits, known_algorithms()));
  }
  return most;
}

namespace {

/// Options that change the measurement; part of the plan's hash. Excludes the counters of --utilization, which depend
/// on the device.
std::string hashed_options(const CollectOptions& options, int rounds) {
  return fmt::format("counters {} verify {} {}{}{}{}", options.measure.counters, options.measure.verify,
                     fmt::join(extra_counters(options.metrics), ","), options.utilization ? " why" : "",
                     rounds > 1 ? fmt::format(" rounds {}", rounds) : "", user_kernels_digest());
}

void print_plan(const PlannedRun& planned, const DeviceInfo& device, std::int64_t free_bytes, Output& out,
                const CancelToken& cancel, Reporter& reporter) {
  std::vector<analysis::Column> columns{number_column("index"), {"algorithm"}};
  append(columns, point_columns(known_algorithms()));
  append(columns, {{"cache"}, number_column("memory_bytes"), {"expected"}});
  TableRows rows;
  const bool people = out.is_text_output();
  for (const std::size_t i : planned.places) {
    throw_if_cancelled(cancel, reporter);
    const PointSpec& point = planned.plan->points[i];
    const auto refusal =
        known_algorithms().find(point.algorithm)->refusal(point.problem, point.config(), device.limits);
    const std::int64_t need = refusal ? 0 : required_memory_bytes(point, device.limits, known_algorithms());
    const std::string expected = refusal ? "infeasible: " + text(refusal->reason)
                                 : need > free_bytes
                                     ? "out-of-memory: " + format_text("{} free", text(Capacity(free_bytes)))
                                     : "";
    std::vector<std::string>& row = rows.emplace_back();
    row = {fmt::to_string(i), point.algorithm};
    append(row, point_cells(point, known_algorithms()));
    append(row, {std::string(to_string(point.cache)), people ? text(Capacity(need)) : fmt::to_string(need), expected});
  }
  analysis::Table table = text_table(std::move(columns), std::move(rows));
  if (people) drop_default_columns(table, known_algorithms());
  out.table(table, "attnscope-plan");
}

}  // namespace

std::filesystem::path choose_run_file(const CollectOptions& options, const RunHeader& header,
                                      const std::vector<std::string>& devices) {
  if (!options.file.empty()) return options.file;
  if (options.resume) {
    for (const std::filesystem::path& file : run_files(header.preset)) {
      try {
        const auto run = find_newest_run(RunStore::open(file, RunStore::Mode::read_only), header, devices);
        if (run && run->state != StoredRunState::running) return file;
      } catch (const FileError& error) {
        spdlog::warn("{}", format_text("skipped: {}", error.what()));
      }
    }
  }
  std::error_code error;
  std::filesystem::create_directories(runs_folder(), error);
  if (error) {
    throw CommandError(ExitCode::error, "cannot create {}: {} (name a file with -o)", runs_folder().string(),
                       error.message());
  }
  return new_run_file(header.preset);
}

namespace {

/// Opens the run's device. If that fails, marks the run as interrupted and ends.
OpenedDevice open_run_device(const UnfinishedRun& stopped, bool counters, Reporter& reporter) {
  try {
    OpenedDevice opened = open_worker_on(stopped.run.device_uuid, stopped.run.limits, counters);
    opened.simulation_reason = stopped.run.simulation_reason;
    return opened;
  } catch (const CommandError& error) {
    // Opening for writing marks abandoned runs as interrupted.
    (void)RunStore::open(stopped.file, RunStore::Mode::collect);
    fail_interrupted(stopped, error.what(), reporter);
  }
}

SweepPlan plan_of(const CollectOptions& options, const DeviceLimits& limits, const CancelToken& cancel) {
  return options.sweep.plan(limits, [&] { return cancel.cancelled(); });
}

/// Returns the run to continue with --resume and without --device; it determines the device: the newest of this plan,
/// on any device, in the first file that has one. Skips imports, unreadable files, and files that another collector is
/// writing.
std::optional<UnfinishedRun> run_to_continue(const CollectOptions& options, const CancelToken& cancel) {
  const bool any_gpu = options.device == "gpu";
  if (!options.resume || !(options.device.empty() || any_gpu)) return std::nullopt;
  if (!options.ceilings.empty()) return std::nullopt;  // runs with --ceilings are found by their rates
  if (!options.shard.empty()) return std::nullopt;     // a shard may continue on any device
  std::map<std::string, std::string> hashes;  // by device, as planning is slow; empty: cannot be planned for it
  const auto is_of_plan = [&](const RunSummary& run) {
    if (run.provenance == Provenance::imported || !has_whole_plan(run)) return false;
    const auto [hash, is_new] = hashes.try_emplace(run.device_uuid);
    try {
      if (is_new)
        hash->second = plan_hash(plan_of(options, run.limits, cancel), hashed_options(options, options.rounds));
    } catch (const CommandError&) {
    }
    return hash->second == run.plan_hash;
  };
  const std::vector<std::filesystem::path> files =
      options.file.empty() ? run_files(options.sweep.preset()) : std::vector<std::filesystem::path>{options.file};
  for (const std::filesystem::path& file : files) {
    try {
      const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
      const std::vector<RunSummary> runs = store.runs();
      const auto newest = std::find_if(runs.rbegin(), runs.rend(), is_of_plan);
      if (newest == runs.rend() || newest->state == StoredRunState::running) continue;
      if (any_gpu && newest->simulated) return std::nullopt;
      return UnfinishedRun{store.file(), *newest};
    } catch (const FileError&) {  // reported when the file is opened for writing
    }
  }
  return std::nullopt;
}

/// Returns the places of --shard and the run's header. Throws CommandError (usage).
PlannedRun planned_run(const CollectOptions& options, const OpenedDevice& opened, const SweepPlan& plan, int rounds) {
  PlannedRun planned{.plan = &plan, .places = PointIndices(plan.points.size()), .header = run_header(options, opened)};
  std::iota(planned.places.begin(), planned.places.end(), std::size_t{0});
  RunHeader& header = planned.header;
  const DeviceInfo& device = header.device;
  header.rounds = rounds;
  header.order_seed = rounds > 1 ? new_order_seed() : 0;
  header.preset = plan.preset;
  // Other rates give another prediction, so they are part of the hash.
  header.plan_hash = plan_hash(plan, hashed_options(options, rounds) + device.rates_source);
  header.planned_points = plan.points.size();
  if (options.shard.empty()) return planned;
  const auto shard = parse_shard(options.shard);
  if (!shard) throw CommandError(ExitCode::usage, "--shard: {}", shard.error());
  if (shard->whole()) return planned;
  const std::vector<PointIndices> shards =
      cut(plan.points, predicted_collection_ms(plan.points, known_algorithms()), shard->count);
  // A run must not combine shards from different GPU models.
  const std::string whose = fmt::format("{} {} {}{}", header.plan_hash, device.limits.name, device.limits.sm_count,
                                        device.simulated ? " simulated" : "");
  planned.places = shards[static_cast<std::size_t>(shard->number - 1)];
  header.shard = *shard;
  header.uid = partition_uid(whose, shards, options.recording);
  return planned;
}

void require_equal_devices(const std::vector<NamedWorker>& workers) {
  const DeviceInfo& first = workers.front().opened.device->info();
  for (const NamedWorker& worker : workers) {
    const DeviceInfo& info = worker.opened.device->info();
    const bool alike = info.limits.name == first.limits.name && info.simulated == first.simulated &&
                       info.limits.sm_count == first.limits.sm_count;
    if (alike) continue;
    throw CommandError(ExitCode::usage, "--device {} is {} and --device {} is {} (GPUs of one kind can share a sweep)",
                       workers.front().word, first.limits.name, worker.word, info.limits.name);
  }
}

void require_single_gpu_points(const SweepPlan& plan) {
  if (std::ranges::none_of(plan.points, [](const PointSpec& point) { return point.problem.gpus > 1; })) return;
  throw CommandError(ExitCode::usage,
                     "multi-GPU points run in one process, which opens the other GPUs (name one device: --device 0)");
}

class Collect {
 public:
  Collect(CollectOptions& options, Reporter& reporter, std::FILE* people, CancelToken& cancel)
      : options_(options), reporter_(reporter), people_(people), cancel_(cancel) {}

  ExitCode run() {
    std::vector<NamedWorker> workers = open();
    for (const NamedWorker& worker : workers) resolve_counters(options_, *worker.opened.device, reporter_);
    if (options_.serve) return serve(options_, std::move(workers.front()), reporter_, cancel_);

    require_equal_devices(workers);
    const OpenedDevice& first = workers.front().opened;
    const SweepPlan plan = planned(first.device->info().limits);
    if (workers.size() > 1) require_single_gpu_points(plan);
    int rounds = options_.rounds;
    if (first.device->info().simulated && rounds > 1) {
      reporter_.report(LogEvent{"warning", "simulated results are equal in every round; --rounds is ignored"});
      rounds = 1;
    }
    PlannedRun run = planned_run(options_, first, plan, rounds);
    if (options_.dry_run) return print_dry_run(run, *first.device);
    return collect_plan(options_, std::move(workers), std::move(run), stopped_, reporter_, cancel_);
  }

 private:
  SweepPlan planned(const DeviceLimits& limits) {
    try {
      return plan_of(options_, limits, cancel_);
    } catch (const CommandError&) {
      throw_if_cancelled(cancel_, reporter_);
      throw;
    }
  }

  std::vector<NamedWorker> open() {
    const bool counters = options_.measure.counters;
    std::optional<std::vector<std::string>> words = parse_device_list(options_.device);
    if (words && options_.dry_run) {
      options_.device = words->front();
      words.reset();
    }
    if (words) {
      if (options_.serve) throw CommandError(ExitCode::usage, "--serve supports one device (set --device)");
      if (!options_.ceilings.empty())
        throw CommandError(ExitCode::usage, "--ceilings supports one device (set --device)");
      std::vector<NamedWorker> workers =
          open_workers(*words, options_.device == "all", counters, [this](const Message& why) {
            reporter_.report(LogEvent{"warning", text(why)});
          });
      for (const NamedWorker& worker : workers) announce(worker.opened.announcement);
      return workers;
    }
    if (!options_.dry_run) stopped_ = run_to_continue(options_, cancel_);
    OpenedDevice opened =
        stopped_ ? open_run_device(*stopped_, counters, reporter_) : open_worker(options_.device, counters);
    if (!options_.ceilings.empty()) predict_with_ceilings(opened, options_.device, options_.ceilings);
    announce(make_message("Device: {}", opened.announcement));
    warn_about_simulation(opened);
    std::vector<NamedWorker> workers;
    workers.push_back({options_.device, std::move(opened)});
    return workers;
  }

  void announce(const Message& device) {
    if (people_ != nullptr) fmt::print(people_, "{}\n", text(device));
  }

  /// Logged even with --jsonl: the user did not ask for a simulation.
  void warn_about_simulation(const OpenedDevice& opened) {
    if (opened.simulation_reason.empty()) return;
    const std::string warning = format_text("no GPU available, results are simulated: {}", opened.simulation_reason);
    reporter_.report(LogEvent{"warning", warning});
    if (options_.jsonl) spdlog::warn("{}", warning);
  }

  ExitCode print_dry_run(const PlannedRun& run, const Device& device) {
    const DeviceInfo& info = device.info();
    const std::int64_t most = max_memory(run, info.limits, cancel_, reporter_);
    if (options_.jsonl) {
      PlanEvent event = plan_event(run);
      event.database = options_.file;
      event.max_memory_bytes = most;
      event.counters = counters_text(device, options_);
      reporter_.report(event);
      reporter_.report(DoneEvent{"complete", "dry run", 0, 0, 0});
      return ExitCode::ok;
    }
    print_plan(run, info, device.free_bytes(), options_.result, cancel_, reporter_);
    if (people_ != nullptr) {
      fmt::print(
          people_, "{}\n",
          format_text("{}, up to {} of device memory, {} free", points_text(run.places.size(), run.header.rounds),
                      text(Capacity(most)), text(Capacity(device.free_bytes()))));
    }
    return ExitCode::ok;
  }

  CollectOptions& options_;
  Reporter& reporter_;
  std::FILE* people_;
  CancelToken& cancel_;
  std::optional<UnfinishedRun> stopped_;
};

ExitCode collect(CollectOptions& options) {
  MeasureOptions& measure = options.measure;
  measure.counters = !options.no_counters;
  measure.verify = !options.no_verify;
  measure.max_samples = std::max(measure.max_samples, measure.min_samples);
  measure.timeout = std::chrono::milliseconds(std::llround(options.timeout_seconds * 1000));
  measure.extra_metrics = extra_counters(options.metrics);

  CancelToken& cancel = cancel_on_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a closed stdout cancels instead of killing the process
  options.jsonl = options.jsonl || options.serve;
  if (options.jsonl && !options.serve) cancel_on_stdin(cancel);

  // Progress goes to stdout, or to stderr if stdout has a table.
  const bool table_on_stdout = !options.result.has_format("text");
  std::FILE* people = options.quiet || options.jsonl ? nullptr : table_on_stdout ? stderr : stdout;
  const std::unique_ptr<Reporter> reporter = options.serve   ? make_session_reporter()
                                             : options.jsonl ? make_jsonl_reporter()
                                                             : make_text_reporter(people);
  try {
    return Collect(options, *reporter, people, cancel).run();
  } catch (const std::exception& error) {
    if (options.jsonl) report_failure(*reporter, error);
    throw;
  }
}

}  // namespace

RunHeader run_header(const CollectOptions& options, const OpenedDevice& opened) {
  RunHeader header{.device = opened.device->info(),
                   .environment = opened.device->environment(),
                   .preset = {},
                   .argv = {options.arguments.begin(), options.arguments.end()},
                   .plan_hash = {},
                   .planned_points = 0,
                   .options = options.measure,
                   .simulation_reason = opened.simulation_reason};
  header.environment.app_version = program_version();
  return header;
}

Action add_collect(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<CollectOptions>(command, arguments);
  std::string preset_help = command.get_option("--preset")->get_description() + ":";
  for (const Preset& preset : presets()) preset_help += fmt::format("\n{}: {}", preset.name, text(preset.description));
  command.get_option("--preset")->description(preset_help);
  command
      .add_option("-o,--output", options->file,
                  "File to create or extend (default: $XDG_DATA_HOME/attnscope/runs/PRESET-TIME.attnscope)")
      ->type_name("FILE");
  command.add_option("-d,--device", options->device, std::string(device_help) + device_list_help)
      ->type_name("DEVICE")
      ->take_last();
  CLI::Option* shard =
      command
          .add_option("--shard", options->shard,
                      "Measure only shard K of N, for `attnscope merge`; tile maps and curves stay in one shard")
          ->type_name("K/N");
  command
      .add_option("--recording", options->recording,
                  "Name shared by the shards of one recording, to record a sharded plan repeatedly")
      ->type_name("NAME")
      ->needs(shard);
  command
      .add_option("--ceilings", options->ceilings,
                  "Predict times of a simulated device with the rates in FILE, from `attnscope ceilings`")
      ->type_name("FILE");
  command
      .add_option("--metrics", options->metrics,
                  "Additional Nsight Compute metrics, separated by commas; requires counters")
      ->type_name("NAMES")
      ->delimiter(',');
  command.add_flag("--utilization", options->utilization,
                   "Also count unit utilization, bank conflicts and warp stalls; requires counters");
  add_number_option(command, "--min-samples", options->measure.min_samples, 1, 100'000,
                    "Minimum timing samples per point");
  add_number_option(command, "--max-noise", options->measure.max_noise, 1e-6, 10,
                    "Take samples until IQR / median is below this");
  add_number_option(command, "--rounds", options->rounds, 1, 1000,
                    "Passes over all points, each in a new order; verdicts of compare need several");
  add_number_option(command, "--timeout", options->timeout_seconds, 0.001, 86'400, "Time limit per point in seconds");
  command.add_flag("--keep-sources", options->measure.keep_sources,
                   "Store the sources of user-defined kernels, not only their digests");
  command.add_flag("--no-verify", options->no_verify, "Skip the comparison with the float64 reference");
  CLI::Option* no_counters = command.add_flag("--no-counters", options->no_counters, "Measure time and occupancy only");
  command.add_flag("--require-counters", options->require_counters, "Exit with code 3 if counters are not available")
      ->excludes(no_counters);
  command.get_option("--metrics")->excludes(no_counters);
  command.get_option("--utilization")->excludes(no_counters);
  command.add_flag("--dry-run", options->dry_run, "Print the points and their memory need without running");
  command.add_flag("--resume", options->resume, "Continue the last unfinished run of this plan on this device");
  CLI::Option* jsonl =
      command.add_flag("--jsonl", options->jsonl,
                       "Print events as JSON lines; \"cancel\" on stdin, or its end, stops after the current launch");
  CLI::Option* serve = command.add_flag(
      "--serve", options->serve,
      "Measure the points requested on stdin as JSON lines such as "
      "{\"request\":\"measure\",\"id\":\"1\",\"point\":{\"algorithm\":NAME,\"N\":4096}}; further requests: cancel, "
      "end; prints events as --jsonl does");
  for (const char* name : {"--preset", "--axis", "--algorithms", "--dry-run", "--resume", "--rounds", "--shard"}) {
    command.get_option(name)->excludes(serve);
  }
  command.add_flag("-q,--quiet", options->quiet, "No progress output");
  options->result.add_to(command, Output::tables, Output::File::no);
  options->result.exclude_option(jsonl);
  options->result.exclude_option(serve);
  return [options] {
    require_measurement_name(options->file);
    return options->result.run([&] { return collect(*options); });
  };
}

}  // namespace attnscope
