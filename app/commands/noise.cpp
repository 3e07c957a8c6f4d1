// SPDX-License-Identifier: Apache-2.0
#include "app/commands/noise.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include "app/child_device.h"
#include "app/command.h"
#include "app/interrupt.h"
#include "app/loaded_points.h"
#include "app/status_line.h"
#include "messages/noise.h"
#include "messages/terminal.h"
#include "profiler/analysis/compared_values.h"
#include "profiler/analysis/recording_noise.h"
#include "profiler/analysis/verdicts.h"
#include "profiler/measure/host_environment.h"
#include "profiler/measure/runner.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::RecordedRounds;

/// Recordings of one build on one GPU.
struct Recordings {
  DeviceInfo device;
  Environment environment;
  std::vector<RecordedRounds> all;
};

/// A record's own rounds go behind those that are there.
void add_rounds(const PointRecord& record, RecordedRounds& recorded) {
  if (!analysis::has_values(record.disposition)) return;
  analysis::RoundsOfSide& rounds = recorded[identity_text(record.spec)];
  each_round(record, [&](int, std::span<const KernelRecord> kernels, const std::optional<ClockReading>& clocks) {
    const auto all = std::ranges::find(kernels, "all", &KernelRecord::kernel);
    if (all == kernels.end()) return;
    const auto times = summarize(all->samples_ns);
    if (!times || !(times->median > 0)) return;
    rounds.ns.push_back(times->median);
    if (clocks && clocks->sm_clock_hz > 0) rounds.cycles.push_back(times->median * clocks->sm_clock_hz / 1e9);
  });
}

/// Hears how far a recording is: points done, and how many there are in its rounds.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Nothing where it was cancelled: noise is known of whole recordings only.
std::optional<RecordedRounds> record_once(Device& device, const NoiseOptions& options, int nth,
                                          const Progress& progress, const CancelToken& cancel) {
  const SweepPlan plan = options.sweep.plan(device.info().limits, [&] { return cancel.cancelled(); });
  MeasureOptions measure;
  measure.counters = false;
  measure.verify = nth == 0;
  const auto seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const SweepRounds rounds{.count = options.rounds, .seed = seed % (1ULL << 53U)};
  RecordedRounds recorded;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record, const RunCounts& counts) {
    add_rounds(record, recorded);
    progress(counts.done, std::max<std::size_t>(1, counts.total));
  };
  const RunOutcome outcome = run_sweep(plan, device, measure, rounds, {}, observer, cancel);
  if (outcome.state == RunState::cancelled) return std::nullopt;
  if (outcome.state == RunState::device_lost) throw CommandError(ExitCode::error, outcome.reason);
  return recorded;
}

Recordings measured(const NoiseOptions& options, Reporter* reporter) {
  using Steady = std::chrono::steady_clock;
  CancelToken& cancel = cancel_on_signals();
  if (reporter != nullptr) cancel_on_stdin(cancel);
  Recordings recordings;
  StatusLine line;
  const auto all = static_cast<std::size_t>(options.recordings);
  const auto begin = Steady::now();
  auto last = begin - std::chrono::hours(1);
  for (int nth = 0; nth < options.recordings; ++nth) {
    const Progress progress = [&](std::size_t done, std::size_t total) {
      if (reporter == nullptr) {
        return line.show(text(
            say::noise::progress{.nth = nth + 1, .recordings = options.recordings, .percent = 100 * done / total}));
      }
      const auto now = Steady::now();
      if (done < total && now - last < std::chrono::milliseconds(250)) return;
      last = now;
      reporter->report(ProgressEvent{static_cast<std::size_t>(nth) * total + done, all * total,
                                     std::chrono::duration<double>(now - begin).count(), -1});
    };
    std::unique_ptr<Device> device;
    try {
      device = open_child_device(own_program, options.device, cancel);
    } catch (const CommandError& error) {
      if (error.code() != ExitCode::partial) throw;
      break;
    }
    if (device->info().simulated) throw CommandError(ExitCode::usage, say::noise::simulated{});
    recordings.device = device->info();
    recordings.environment = device->environment();
    std::optional<RecordedRounds> whole = record_once(*device, options, nth, progress, cancel);
    if (!whole) break;
    recordings.all.push_back(std::move(*whole));
  }
  line.clear();
  return recordings;
}

/// Each measured run of the files is a recording.
Recordings recorded(const NoiseOptions& options) {
  Recordings recordings;
  std::set<std::string> known;
  const std::string day_ago = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr) - 86'400));
  for (const std::string& file : options.from) {
    const RunStore store = RunStore::open(file, RunStore::Mode::read_only);
    std::set<std::int64_t> chosen;
    if (!options.filter.empty()) {
      const std::vector<std::int64_t> ids = load_points({file}, options.filter).ids;
      chosen.insert(ids.begin(), ids.end());
    }
    const auto fits = [&](const StoredPoint& point) { return options.filter.empty() || chosen.contains(point.id); };
    for (const RunSummary& run : store.runs()) {
      if (run.provenance != Provenance::measured) continue;
      if (!run.uid.empty() && !known.insert(run.uid).second) {
        throw CommandError(ExitCode::usage, say::noise::copy{.file = file, .run = run.id});
      }
      // What is kept is dated now, and holds for a day.
      if (!options.output.empty() && run.started_at < day_ago) {
        throw CommandError(ExitCode::error, say::noise::too_old{.file = file, .time = run.started_at});
      }
      if (!recordings.all.empty() && (run.device_uuid != recordings.device.uuid ||
                                      run.environment.driver_version != recordings.environment.driver_version)) {
        throw CommandError(ExitCode::error, say::noise::other_device{.file = file});
      }
      recordings.device = {.uuid = run.device_uuid, .ordinal = run.device_ordinal, .limits = run.limits};
      recordings.environment = run.environment;
      RecordedRounds& rounds = recordings.all.emplace_back();
      for (const StoredPoint& point : store.points(std::vector{run.id})) {
        if (fits(point)) add_rounds(point.record, rounds);
      }
    }
    (void)with_skipped_rows(store, ExitCode::ok);
  }
  return recordings;
}

std::string percent(double share) {
  return fmt::format("{:.2g}", 100 * share);
}

void tell(const Recordings& recordings, const analysis::RecordingNoise& noise,
          const std::function<void(const Message&)>& say_line) {
  std::vector<double> spreads;
  bool one_clock = true;
  for (const auto& [name, point] : noise.points) {
    one_clock = one_clock && point.at_one_clock > 0;
    spreads.push_back(std::sqrt(point.at_one_clock > 0 ? point.at_one_clock : point.variance));
  }
  std::ranges::sort(spreads);
  say_line(say::noise::found{.recordings = noise.recordings,
                             .rounds = noise.rounds,
                             .points = noise.points.size(),
                             .device = recordings.device.limits.name,
                             .driver = recordings.environment.driver_version,
                             .how = one_clock ? Message(say::noise::at_one_clock{}) : say::noise::as_timed{},
                             .median = percent(spreads[spreads.size() / 2]),
                             .p95 = percent(spreads[spreads.size() * 95 / 100])});
  constexpr std::size_t enough_to_hold_out = 4;
  if (recordings.all.size() < enough_to_hold_out) return;
  const analysis::HeldOutNoise held = analysis::held_out(recordings.all, analysis::usual_margin_apart);
  say_line(say::noise::held_out{
      .margin = percent(analysis::usual_margin_apart),
      .rows = held.rows,
      .changed = held.changed,
      .same = fmt::format(
          "{:.0f}", 100.0 * static_cast<double>(held.same) / static_cast<double>(std::max<std::size_t>(1, held.rows))),
      .detectable = percent(held.detectable)});
}

}  // namespace

ExitCode measure_noise(const NoiseOptions& options, Reporter* reporter) {
  // A file that cannot be written is known before it is measured.
  std::optional<RunStore> store;
  if (!options.output.empty()) store = RunStore::open(options.output, RunStore::Mode::collect);
  const bool measures = options.from.empty();
  const Recordings recordings = measures ? measured(options, reporter) : recorded(options);
  const bool cut_short = measures && recordings.all.size() < static_cast<std::size_t>(options.recordings);
  if (cut_short && recordings.all.size() < 2) throw CommandError(ExitCode::partial, say::noise::cancelled{});
  const analysis::RecordingNoise noise = analysis::noise_of(recordings.all);
  if (noise.points.empty()) throw CommandError(ExitCode::error, say::noise::too_few{});
  const auto say_line = [&](const Message& words) {
    if (reporter != nullptr) return reporter->report(LogEvent{"info", text(words)});
    std::cout << text(words) << '\n';
  };
  const auto end = [&]() -> ExitCode {
    if (!cut_short) return ExitCode::ok;
    throw CommandError(ExitCode::partial, say::noise::cut_short{.recordings = recordings.all.size()});
  };
  tell(recordings, noise, say_line);
  if (!store) return end();
  Environment environment = recordings.environment;
  if (options.from.empty()) environment.app_version = program_version();
  const std::string uid = store->add_noise(recordings.device, environment, noise);
  say_line(say::noise::kept{.file = printable(store->file().string()), .uid = uid});
  return end();
}

}  // namespace attnscope
