// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/gpu_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/run_files.h"
#include "app/sweep_options.h"
#include "profiler/compare/compared_values.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/stats/recording_noise.h"
#include "profiler/worker/runner.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

struct DoctorOptions {
  explicit DoctorOptions(CLI::App& command) : sweep(command, "quick") {}

  int device = 0;
  bool strict = false;
  bool noise = false;
  SweepOptions sweep;  ///< --noise: points, recordings, and rounds of each
  int recordings = 6;
  int rounds = 10;
  std::string file;
  Output output;
};

using analysis::RecordedRounds;

struct Recordings {
  DeviceInfo device;
  Environment environment;
  std::vector<RecordedRounds> all;
};

void add_rounds(const PointRecord& record, RecordedRounds& recorded) {
  if (!analysis::has_values(record.disposition)) return;
  analysis::SideRounds& rounds = recorded[canonical_text(record.spec)];
  for_each_round(record, [&](int, std::span<const KernelRecord> kernels, const std::optional<ClockReading>& clocks) {
    const auto all = std::ranges::find(kernels, "all", &KernelRecord::kernel);
    if (all == kernels.end()) return;
    const auto times = summarize(all->samples_ns);
    if (!times || !(times->median > 0)) return;
    rounds.ns.push_back(times->median);
    if (clocks && clocks->sm_clock_hz > 0) rounds.cycles.push_back(times->median * clocks->sm_clock_hz / 1e9);
  });
}

/// Measures the sweep once; nullopt if cancelled, because the noise floor needs complete recordings.
std::optional<RecordedRounds> record_once(Device& device, const DoctorOptions& options, int nth, StatusLine& line,
                                          const CancelToken& cancel) {
  const SweepPlan plan = options.sweep.plan(device.info().limits, [&] { return cancel.cancelled(); });
  MeasureOptions measure;
  measure.counters = false;
  measure.verify = nth == 0;
  const SweepRounds rounds{.count = options.rounds, .seed = new_order_seed()};
  RecordedRounds recorded;
  const std::size_t total = plan.points.size() * static_cast<std::size_t>(options.rounds);
  RunObserver observer;
  observer.on_point = [&, done = std::size_t{0}](std::size_t, const PointRecord& record) mutable {
    add_rounds(record, recorded);
    line.show(format_text("Recording {}/{}: {}%", nth + 1, options.recordings, 100 * ++done / total));
  };
  device.prepare(plan.points, cancel, {});
  const RunOutcome outcome = run_sweep(plan, device, measure, rounds, {}, observer, cancel);
  if (outcome.state == RunState::cancelled) return std::nullopt;
  if (outcome.state == RunState::device_lost) throw CommandError(ExitCode::error, outcome.reason);
  return recorded;
}

Recordings measured(const DoctorOptions& options) {
  CancelToken& cancel = cancel_on_signals();
  Recordings recordings;
  StatusLine line;
  for (int nth = 0; nth < options.recordings; ++nth) {
    std::unique_ptr<Device> device;
    try {
      device = open_child_device(executable_path, fmt::to_string(options.device), cancel);
    } catch (const CommandError& error) {
      if (error.code() != ExitCode::partial) throw;
      break;
    }
    if (device->info().simulated)
      throw CommandError(ExitCode::usage, "simulated devices have no noise: all recordings are equal (set --device)");
    recordings.device = device->info();
    recordings.environment = device->environment();
    std::optional<RecordedRounds> whole = record_once(*device, options, nth, line, cancel);
    if (!whole) break;
    recordings.all.push_back(std::move(*whole));
  }
  line.clear();
  return recordings;
}

void tell(const Recordings& recordings, const analysis::RecordingNoise& noise) {
  std::vector<double> spreads;
  bool one_clock = true;
  for (const auto& [name, point] : noise.points) {
    one_clock = one_clock && point.normalized_variance > 0;
    spreads.push_back(std::sqrt(point.normalized_variance > 0 ? point.normalized_variance : point.variance));
  }
  std::ranges::sort(spreads);
  const Message found = make_message(
      "{} recordings of {} rounds, {} points, {}, driver {}. SD between recordings ({}): median point {}%, 95th "
      "percentile {}%.",
      noise.recordings, noise.rounds, grouped(noise.points.size()), recordings.device.limits.name,
      recordings.environment.driver_version, one_clock ? "times normalized to one SM clock" : "times as measured",
      fmt::format("{:.2g}", 100 * spreads[spreads.size() / 2]),
      fmt::format("{:.2g}", 100 * spreads[spreads.size() * 95 / 100]));
  std::cout << text(found) << '\n';
}

/// If cancelled, keeps complete recordings if there are at least two, and throws CommandError (partial).
ExitCode measure_noise(const DoctorOptions& options) {
  // Opens the file before measuring, in case it cannot be written.
  std::optional<RunStore> store;
  if (!options.file.empty()) store = RunStore::open(options.file, RunStore::Mode::collect);
  const Recordings recordings = measured(options);
  const bool cut_short = recordings.all.size() < static_cast<std::size_t>(options.recordings);
  if (cut_short && recordings.all.size() < 2)
    throw CommandError(ExitCode::partial, "cancelled: fewer than two complete recordings, nothing stored");
  const analysis::RecordingNoise noise = analysis::estimate_noise(recordings.all);
  if (noise.points.empty())
    throw CommandError(ExitCode::error, "no point was recorded twice (increase --recordings or reduce the sweep)");
  tell(recordings, noise);
  if (store) {
    Environment environment = recordings.environment;
    environment.app_version = program_version();
    const std::string uid = store->add_noise(recordings.device, environment, noise);
    std::cout << format_text("Noise floor stored in {} (set {})", printable(store->file().string()), uid) << '\n';
  }
  if (!cut_short) return ExitCode::ok;
  throw CommandError(ExitCode::partial, "cancelled: noise floor of {} complete recordings", recordings.all.size());
}

DoctorCheck runs_check() {
  std::filesystem::path folder;
  try {
    folder = runs_folder();
  } catch (const CommandError&) {
    return {"runs", false, "no folder for runs: HOME is not set", "Set HOME, or name files with -o."};
  }
  // The nearest existing parent decides whether the folder can be created.
  std::filesystem::path existing = folder;
  while (!existing.empty() && !std::filesystem::exists(existing) && existing != existing.parent_path()) {
    existing = existing.parent_path();
  }
  if (!existing.empty() && ::access(existing.c_str(), W_OK) == 0) return {"runs", true, folder.string(), ""};
  return {"runs", false, fmt::format("{} is not writable", folder.string()),
          "Make it writable, or name files with -o."};
}

ExitCode doctor(DoctorOptions& options) {
  if (options.noise) return measure_noise(options);
  std::vector<DoctorCheck> checks = check_gpu(options.device);
  checks.push_back(runs_check());
  Output& out = options.output;
  TableRows rows;
  for (const DoctorCheck& check : checks) {
    rows.push_back({check.name, check.ok ? "ok" : "problem", check.detail, check.fix});
    if (!out.has_format("text")) continue;
    std::cout << fmt::format("{:<8} {:<12} {}\n", rows.back()[1], check.name, check.detail);
    if (!check.fix.empty()) std::cout << fmt::format("{:21} Fix: {}\n", "", check.fix);
  }
  if (!out.has_format("text")) out.table(text_table({{"check"}, {"status"}, {"detail"}, {"fix"}}, std::move(rows)));
  const bool all_ok = std::ranges::all_of(checks, &DoctorCheck::ok);
  return options.strict && !all_ok ? ExitCode::error : ExitCode::ok;
}

}  // namespace

Action add_doctor(CLI::App& command) {
  auto options = std::make_shared<DoctorOptions>(command);
  command.add_option("-d,--device", options->device, "GPU number")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--strict", options->strict, "Exit with code 1 if a check fails");
  options->output.add_to(command, Output::tables, Output::File::no);
  CLI::Option* noise = command.add_flag(
      "--noise", options->noise,
      "Measure the noise floor: repeated recordings of one build in separate processes, some minutes; used by compare");
  command
      .add_option("-o,--output", options->file,
                  "Output file; with --noise, an .attnscope file to which the noise floor is added")
      ->type_name("FILE");
  add_number_option(command, "--recordings", options->recordings, 4, 100, "Recordings for --noise");
  add_number_option(command, "--rounds", options->rounds, 3, 1000, "Rounds per recording for --noise");
  for (const char* name : {"--preset", "--axis", "--algorithms", "--cache-control", "--recordings", "--rounds"}) {
    command.get_option(name)->needs(noise);
  }
  command.get_option("--strict")->excludes(noise);
  options->output.exclude_option(noise);
  return [options] {
    if (options->noise) {
      require_measurement_name(options->file);
    } else {
      options->output.set_file(options->file);
    }
    return options->output.run([&] { return doctor(*options); });
  };
}

}  // namespace attnscope
