// SPDX-License-Identifier: Apache-2.0
// collect: plans a sweep, opens workers, measures and stores it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <memory>
#include <numeric>

#include "app/command.h"
#include "app/commands/collect.h"
#include "app/commands/unfinished_run.h"
#include "app/interrupt.h"
#include "app/measured_rates.h"
#include "app/reporter.h"
#include "app/run_files.h"
#include "app/table.h"
#include "app/user_kernels.h"
#include "kernels/registry.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/presets.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/compared_runs.h"

namespace attnscope {

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
  const Measurement& measure = options.measure;
  return fmt::format("counters {} verify {} {}{}{}{}", measure.options.counters, measure.options.verify,
                     fmt::join(extra_counters(measure.metrics), ","), measure.why ? " why" : "",
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

std::filesystem::path choose_run_file(const Destination& to, const RunHeader& header,
                                      const std::vector<std::string>& devices) {
  if (!to.file.empty()) return to.file;
  if (to.resume) {
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

std::function<bool(int)> make_lock_callback(const std::filesystem::path& file, Reporter& reporter,
                                            const CancelToken& cancel) {
  constexpr int first_notice_ms = 2'000;
  constexpr int between_notices_ms = 60'000;
  return [file, &reporter, &cancel, last = 0, next = first_notice_ms](int waited_ms) mutable {
    if (waited_ms < last) next = first_notice_ms;  // the wait restarted for another lock
    last = waited_ms;
    if (waited_ms >= next) {
      next = waited_ms + between_notices_ms;
      reporter.report(LogEvent{"warning", format_text("{} is locked by another program; waited {} s so far",
                                                      file.string(), waited_ms / 1000)});
    }
    return !cancel.cancelled();
  };
}

namespace {

SweepPlan plan_of(const CollectOptions& options, const DeviceLimits& limits, const CancelToken& cancel) {
  return options.plan.sweep.plan(limits, [&] { return cancel.cancelled(); });
}

/// Returns the run to continue with --resume and without --device; it determines the device.
std::optional<UnfinishedRun> run_to_continue(const CollectOptions& options, const CancelToken& cancel) {
  const bool any_gpu = options.device == "gpu";
  if (!options.to.resume || !(options.device.empty() || any_gpu)) return std::nullopt;
  if (!options.ceilings.empty()) return std::nullopt;    // runs with --ceilings are found by their rates
  if (!options.plan.shard.empty()) return std::nullopt;  // a shard may continue on any device
  const auto hash = [&](const DeviceLimits& limits) -> std::optional<std::string> {
    try {
      return plan_hash(plan_of(options, limits, cancel), hashed_options(options, options.plan.rounds));
    } catch (const CommandError&) {  // the plan is invalid for this device
      return std::nullopt;
    }
  };
  const std::vector<std::filesystem::path> files = options.to.file.empty()
                                                       ? run_files(options.plan.sweep.preset())
                                                       : std::vector<std::filesystem::path>{options.to.file};
  std::optional<UnfinishedRun> stopped = find_unfinished_run(files, hash);
  if (stopped && any_gpu && stopped->run.simulated) return std::nullopt;
  return stopped;
}

SweepPlan planned(const CollectOptions& options, const DeviceLimits& limits, const CancelToken& cancel,
                  Reporter& reporter) {
  try {
    return plan_of(options, limits, cancel);
  } catch (const CommandError&) {
    throw_if_cancelled(cancel, reporter);
    throw;
  }
}

/// A new seed for each recording, so that recordings do not share the order of points.
std::uint64_t new_order_seed() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % (1ULL << 53U);
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
  if (options.plan.shard.empty()) return planned;
  const auto shard = parse_shard(options.plan.shard);
  if (!shard) throw CommandError(ExitCode::usage, "--shard: {}", shard.error());
  if (shard->whole()) return planned;
  const std::vector<PointIndices> shards =
      cut(plan.points, predicted_collection_ms(plan.points, known_algorithms()), shard->count);
  // A run must not combine shards from different GPU models.
  const std::string whose = fmt::format("{} {} {}{}", header.plan_hash, device.limits.name, device.limits.sm_count,
                                        device.simulated ? " simulated" : "");
  planned.places = shards[static_cast<std::size_t>(shard->number - 1)];
  header.shard = *shard;
  header.uid = partition_uid(whose, shards, options.plan.collection);
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

struct CollectCommand {
  CollectCommand(CLI::App& command, Arguments given) : options(command, given) {}

  CollectOptions options;
  double timeout_seconds = 15;
  bool no_verify = false;
  bool no_counters = false;
  bool dry_run = false;
  bool jsonl = false;
  bool serve = false;
  bool quiet = false;
};

class Collect {
 public:
  Collect(CollectCommand& command, Reporter& reporter, std::FILE* people, CancelToken& cancel)
      : command_(command), options_(command.options), reporter_(reporter), people_(people), cancel_(cancel) {}

  ExitCode run() {
    std::vector<NamedWorker> workers = open();
    for (const NamedWorker& worker : workers) resolve_counters(options_.measure, *worker.opened.device, reporter_);
    if (command_.serve) return serve(options_, std::move(workers.front()), reporter_, cancel_);

    require_equal_devices(workers);
    const OpenedDevice& first = workers.front().opened;
    const SweepPlan plan = planned(options_, first.device->info().limits, cancel_, reporter_);
    if (workers.size() > 1) require_single_gpu_points(plan);
    int rounds = options_.plan.rounds;
    if (first.device->info().simulated && rounds > 1) {
      reporter_.report(LogEvent{"warning", "simulated results are equal in every round; --rounds is ignored"});
      rounds = 1;
    }
    PlannedRun run = planned_run(options_, first, plan, rounds);
    if (command_.dry_run) return print_dry_run(run, *first.device);
    return collect_plan(options_, std::move(workers), std::move(run), stopped_, reporter_, cancel_);
  }

 private:
  std::vector<NamedWorker> open() {
    const bool counters = options_.measure.options.counters;
    std::optional<std::vector<std::string>> words = parse_device_list(options_.device);
    if (words && command_.dry_run) {
      options_.device = words->front();
      words.reset();
    }
    if (words) {
      if (command_.serve) throw CommandError(ExitCode::usage, "--serve supports one device (set --device)");
      if (!options_.ceilings.empty())
        throw CommandError(ExitCode::usage, "--ceilings supports one device (set --device)");
      std::vector<NamedWorker> workers =
          open_workers(*words, options_.device == "all", counters, [this](const Message& why) {
            reporter_.report(LogEvent{"warning", text(why)});
          });
      for (const NamedWorker& worker : workers) announce(worker.opened.announcement);
      return workers;
    }
    if (!command_.dry_run) stopped_ = run_to_continue(options_, cancel_);
    OpenedDevice opened = stopped_ ? open_run_device(*stopped_, counters, reporter_,
                                                     make_lock_callback(stopped_->file, reporter_, cancel_))
                                   : open_worker(options_.device, counters);
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
    if (command_.jsonl) spdlog::warn("{}", warning);
  }

  ExitCode print_dry_run(const PlannedRun& run, const Device& device) {
    const DeviceInfo& info = device.info();
    const std::int64_t most = max_memory(run, info.limits, cancel_, reporter_);
    if (command_.jsonl) {
      PlanEvent event = plan_event(run);
      event.database = options_.to.file;
      event.max_memory_bytes = most;
      event.counters = counters_text(device, options_.measure);
      reporter_.report(event);
      reporter_.report(DoneEvent{"complete", "dry run", 0, 0, 0});
      return ExitCode::ok;
    }
    print_plan(run, info, device.free_bytes(), options_.to.result, cancel_, reporter_);
    if (people_ != nullptr) {
      fmt::print(
          people_, "{}\n",
          format_text("{}, up to {} of device memory, {} free", points_text(run.places.size(), run.header.rounds),
                      text(Capacity(most)), text(Capacity(device.free_bytes()))));
    }
    return ExitCode::ok;
  }

  CollectCommand& command_;
  CollectOptions& options_;
  Reporter& reporter_;
  std::FILE* people_;
  CancelToken& cancel_;
  std::optional<UnfinishedRun> stopped_;
};

ExitCode collect(CollectCommand& command) {
  MeasureOptions& measure = command.options.measure.options;
  measure.counters = !command.no_counters;
  measure.verify = !command.no_verify;
  measure.max_samples = std::max(measure.max_samples, measure.min_samples);
  measure.timeout = std::chrono::milliseconds(std::llround(command.timeout_seconds * 1000));
  measure.extra_metrics = extra_counters(command.options.measure.metrics);

  CancelToken& cancel = cancel_on_signals();
  std::signal(SIGPIPE, SIG_IGN);  // a closed stdout cancels instead of killing the process
  command.jsonl = command.jsonl || command.serve;
  if (command.jsonl && !command.serve) cancel_on_stdin(cancel);

  // Progress goes to stdout, or to stderr if stdout has a table.
  const bool table_on_stdout = !command.options.to.result.has_format("text");
  std::FILE* people = command.quiet || command.jsonl ? nullptr : table_on_stdout ? stderr : stdout;
  const std::unique_ptr<Reporter> reporter = command.serve   ? make_session_reporter()
                                             : command.jsonl ? make_jsonl_reporter()
                                                             : make_text_reporter(people);
  try {
    return Collect(command, *reporter, people, cancel).run();
  } catch (const std::exception& error) {
    if (command.jsonl && !reporter->is_done()) {
      const auto* known = dynamic_cast<const CommandError*>(&error);
      const ExitCode code = known != nullptr ? known->code() : ExitCode::error;
      const Message why = known != nullptr ? known->message() : Message::verbatim(one_line(explain(error)));
      reporter->report(DoneEvent{"failed", why, 0, 0, static_cast<int>(code)});
    }
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
                   .options = options.measure.options,
                   .simulation_reason = opened.simulation_reason};
  header.environment.app_version = program_version();
  return header;
}

Action add_collect(CLI::App& command, Arguments arguments) {
  auto given = std::make_shared<CollectCommand>(command, arguments);
  CollectOptions* const options = &given->options;
  std::string preset_help = command.get_option("--preset")->get_description() + ":";
  for (const Preset& preset : presets()) preset_help += fmt::format("\n{}: {}", preset.name, text(preset.description));
  command.get_option("--preset")->description(preset_help);
  command
      .add_option("-o,--output", options->to.file,
                  "File to create or extend (default: $XDG_DATA_HOME/attnscope/runs/PRESET-TIME.attnscope)")
      ->type_name("FILE");
  command.add_option("-d,--device", options->device, std::string(device_help) + device_list_help)
      ->type_name("DEVICE")
      ->take_last();
  CLI::Option* shard =
      command
          .add_option("--shard", options->plan.shard,
                      "Measure only shard K of N, for `attnscope merge`; tile maps and curves stay in one shard")
          ->type_name("K/N");
  command
      .add_option("--recording", options->plan.collection,
                  "Name shared by the shards of one recording, to record a sharded plan repeatedly")
      ->type_name("NAME")
      ->needs(shard);
  command
      .add_option("--ceilings", options->ceilings,
                  "Predict times of a simulated device with the rates in FILE, from `attnscope ceilings`")
      ->type_name("FILE");
  command
      .add_option("--metrics", options->measure.metrics,
                  "Additional Nsight Compute metrics, separated by commas; requires counters")
      ->type_name("NAMES")
      ->delimiter(',');
  command.add_flag("--utilization", options->measure.why,
                   "Also count unit utilization, bank conflicts and warp stalls; requires counters");
  command.add_option("--min-samples", options->measure.options.min_samples, "Minimum timing samples per point")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      .add_option("--max-noise", options->measure.options.max_noise, "Take samples until IQR / median is below this")
      ->check(number_in_range(1e-6, 10.0))
      ->capture_default_str();
  command
      .add_option("--rounds", options->plan.rounds,
                  "Passes over all points, each in a new order; verdicts of compare need several")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--timeout", given->timeout_seconds, "Time limit per point in seconds")
      ->check(number_in_range(0.001, 86400.0))
      ->capture_default_str();
  command.add_flag("--keep-sources", options->measure.options.keep_sources,
                   "Store the sources of user-defined kernels, not only their digests");
  command.add_flag("--no-verify", given->no_verify, "Skip the comparison with the float64 reference");
  CLI::Option* no_counters = command.add_flag("--no-counters", given->no_counters, "Measure time and occupancy only");
  command
      .add_flag("--require-counters", options->measure.require_counters,
                "Exit with code 3 if counters are not available")
      ->excludes(no_counters);
  command.get_option("--metrics")->excludes(no_counters);
  command.get_option("--utilization")->excludes(no_counters);
  command.add_flag("--dry-run", given->dry_run, "Print the points and their memory need without running");
  command.add_flag("--resume", options->to.resume, "Continue the last unfinished run of this plan on this device");
  CLI::Option* jsonl =
      command.add_flag("--jsonl", given->jsonl,
                       "Print events as JSON lines; \"cancel\" on stdin, or its end, stops after the current launch");
  CLI::Option* serve = command.add_flag(
      "--serve", given->serve,
      "Measure the points requested on stdin as JSON lines such as "
      "{\"request\":\"measure\",\"id\":\"1\",\"point\":{\"algorithm\":NAME,\"N\":4096}}; further requests: cancel, "
      "end; prints events as --jsonl does");
  for (const char* name : {"--preset", "--axis", "--algorithms", "--dry-run", "--resume", "--rounds", "--shard"}) {
    command.get_option(name)->excludes(serve);
  }
  command.add_flag("-q,--quiet", given->quiet, "No progress output");
  options->to.result.add_to(command, Output::tables, Output::File::no);
  options->to.result.exclude_option(jsonl);
  options->to.result.exclude_option(serve);
  return [given] {
    require_measurement_name(given->options.to.file);
    return given->options.to.result.run([&] { return collect(*given); });
  };
}

}  // namespace attnscope
