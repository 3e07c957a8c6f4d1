// SPDX-License-Identifier: Apache-2.0
#include "app/commands/ab_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <span>

#include "app/compared_sides.h"
#include "app/comparison_output.h"
#include "app/interrupt.h"
#include "app/status_line.h"
#include "app/workers.h"
#include "kernels/registry.h"
#include "profiler/compare/alignment.h"
#include "profiler/files/file_system.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/round_order.h"
#include "profiler/plan/sweep.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

/// Both programs, each in the process that was started last.
class Programs {
 public:
  Programs(const ProgramsOptions& options, const CancelToken& cancel) : options_(options), cancel_(cancel) { start(); }

  /// Ends the processes that are there, and starts new ones.
  void start() {
    sides_ = {};
    std::array<std::future<std::unique_ptr<Device>>, 2> opening;
    for (const std::size_t side : {0U, 1U}) {
      opening.at(side) = std::async(std::launch::async, [this, side] {
        return open_child_device(options_.programs.at(side), options_.device, cancel_);
      });
    }
    for (const std::size_t side : {0U, 1U}) sides_.at(side) = opening.at(side).get();
    for (const std::size_t side : {0U, 1U}) hold_to_one_device(side);
  }

  [[nodiscard]] Device& of(std::size_t side) { return *sides_.at(side); }
  /// A new process where the last one lost its device.
  void mend(std::size_t side) {
    if (of(side).usable()) return;
    sides_.at(side) = open_child_device(options_.programs.at(side), options_.device, cancel_);
    hold_to_one_device(side);
  }

 private:
  /// All of both programs' processes measure on the device of the first.
  void hold_to_one_device(std::size_t side) {
    const DeviceInfo& device = of(side).info();
    if (!first_) first_ = device;
    if (device.uuid == first_->uuid && device.simulated == first_->simulated) return;
    throw CommandError(ExitCode::error, "the programs opened two devices, {} and {}; name one with --device",
                       first_->limits.name, device.limits.name);
  }

  const ProgramsOptions& options_;
  const CancelToken& cancel_;
  std::array<std::unique_ptr<Device>, 2> sides_;
  std::optional<DeviceInfo> first_;
};

/// Whether a result says that a program is wrong, and not that the point does not fit.
bool is_wrong(Disposition disposition) {
  return disposition == Disposition::incorrect || disposition == Disposition::compile_error ||
         disposition == Disposition::timeout || disposition == Disposition::crashed;
}

/// "1.4.0 (0b51a03c2d4e)": the digest tells two builds of one version apart.
std::string build_of(const std::string& program, const Device& device) {
  constexpr std::size_t digits = 12;
  return fmt::format("{} ({})", device.environment().app_version, file_digest(program).substr(0, digits));
}

SweepPlan plan_of(const ProgramsOptions& options, const DeviceLimits& limits) {
  SweepRequest request{.preset = options.preset, .axes = {}, .algorithms = {}, .cache = options.cache};
  for (const std::string& word : options.axes) {
    Result<Axis, Message> axis = parse_axis(word, known_algorithms());
    if (!axis) throw CommandError(ExitCode::usage, axis.error());
    request.axes.push_back(std::move(axis).value());
  }
  Result<SweepPlan, Message> plan = make_plan(request, limits, known_algorithms());
  if (!plan) throw CommandError(ExitCode::usage, plan.error());
  return std::move(plan).value();
}

class ProgramTurns {
 public:
  ProgramTurns(const ProgramsOptions& options, Arguments arguments, CancelToken& cancel)
      : options_(options),
        cancel_(cancel),
        programs_(options, cancel),
        store_(RunStore::open(options.output, RunStore::Mode::collect)) {
    Device& base = programs_.of(0);
    device_name_ = base.info().limits.name;
    plan_ = plan_of(options, base.info().limits);
    ended_.resize(plan_.points.size());
    rounds_ = {.count = base.info().simulated ? 1 : options.rounds,
               .seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) %
                       (1ULL << 53U)};
    looks_ = analysis::rounds_to_look_at(static_cast<std::size_t>(rounds_.count));
    for (const std::size_t side : {0U, 1U}) {
      const std::string preset(side == 0 ? base_program_preset : other_program_preset);
      RunHeader header{.device = base.info(),
                       .environment = programs_.of(side).environment(),
                       .preset = preset,
                       .argv = {arguments.begin(), arguments.end()},
                       .plan_hash = plan_hash(plan_, preset),
                       .planned_points = plan_.points.size(),
                       .options = options.measure,
                       .rounds = rounds_.count,
                       .order_seed = rounds_.seed};
      header.environment.app_version = builds_.at(side) = build_of(options.programs.at(side), programs_.of(side));
      runs_.at(side) = store_.begin_run(header);
    }
  }

  /// Until a verdict stands everywhere, time is out, or it is cancelled.
  void run() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.timeout_seconds);
    for (int round = 0; round < rounds_.count; ++round) {
      if (!take(round)) break;
      whole_rounds_ = round + 1;
      if (std::ranges::find(looks_, static_cast<std::size_t>(round) + 1) != looks_.end() && decided()) break;
      out_of_time_ = whole_rounds_ >= fewest_starts && whole_rounds_ < rounds_.count && Clock::now() >= end;
      if (out_of_time_) break;
    }
    line_.clear();
    for (const std::int64_t run : runs_) {
      store_.finish_run(run, cancel_.cancelled() ? StoredRunState::cancelled : StoredRunState::complete);
    }
  }

  [[nodiscard]] ExitCode code() const { return wrong_ || cancel_.cancelled() ? ExitCode::partial : ExitCode::ok; }

  /// What the file says of it.
  void print(Output& out) const {
    if (whole_rounds_ == 0) return;  // cancelled before there was anything
    out.line(format_text("Device: {}", Message::verbatim(device_name_)));
    out.line(format_text("base {}, other {}", builds_[0], builds_[1]));
    out.line(text(rounds_.count == 1
                      ? "Computed, not measured: one round says all."
                      : make_message("Each round starts both programs anew and measures every point by each, in "
                                     "shuffled order, {} samples each. A round is the unit of the verdicts. They are "
                                     "looked at after {} rounds, each time with its part of the 5%.",
                                     options_.measure.max_samples, fmt::join(looks_, ", "))));
    out.gap();
    judge([&](const ComparisonOutput& output) { attnscope::print(output, out); });
    if (out_of_time_)
      out.line(format_text("Time ran out before all was decided; --timeout takes more than {} s.",
                           options_.timeout_seconds));
    out.line(format_text("Kept in {}; `attnscope compare {} --with {}` judges it anew.", store_.file().string(),
                         shell_quoted(side_word(0)), shell_quoted(side_word(1))));
  }

 private:
  /// One round: both programs, all points; false where it was cancelled.
  bool take(int round) {
    try {
      if (round > 0) programs_.start();
    } catch (const CommandError&) {
      if (cancel_.cancelled()) return false;  // they were ended while they started
      throw;
    }
    MeasureOptions measure = options_.measure;
    measure.verify = measure.verify && round == 0;
    measure.placement = rounds_.seed + static_cast<std::uint64_t>(round) + 1;
    const std::size_t points = plan_.points.size();
    if (round == 0) {
      for (const std::size_t side : {0U, 1U}) programs_.of(side).prepare(plan_.points, cancel_, {});
    }
    std::size_t done = 0;
    for (const std::size_t place : round_order(2 * points, round, rounds_)) {
      line_.show(format_text("round {}, {}%", round + 1, 100 * done++ / (2 * points)));
      if (round > 0 && ended_[place % points]) continue;
      const std::size_t side = place / points;
      programs_.mend(side);
      const PointRecord record = storable(programs_.of(side).measure(plan_.points[place % points], measure, cancel_));
      if (record.disposition == Disposition::cancelled || cancel_.cancelled()) return false;
      keep(side, place % points, round, record);
    }
    return true;
  }

  void keep(std::size_t side, std::size_t place, int round, const PointRecord& record) {
    if (round == 0) {
      store_.add_point(runs_.at(side), place, record);
    } else {
      store_.add_round(runs_.at(side), place, round, record);
    }
    wrong_ = wrong_ || is_wrong(record.disposition);
    if (!measured_again(record.disposition)) ended_[place] = true;
  }

  [[nodiscard]] std::string side_word(std::size_t side) const {
    return fmt::format("{}:{}", store_.file().string(), runs_.at(side));
  }

  template <class Use>
  void judge(Use use) const {
    const ComparedSides sides = compared_sides({side_word(0)}, {side_word(1)}, {});
    const analysis::ComparisonRequest request{
        .base = sides.base,
        .other = sides.other,
        .alignment = analysis::alignment_of({}, sides.table, sides.base, sides.other).value(),
        .margin = options_.margin_percent / 100,
        .verdicts = {},
        .looks = sides.looks,
        .conditions = sides.conditions};
    const analysis::ComparisonResult result = analysis::compare(sides.table, request);
    use(ComparisonOutput{.sides = sides, .request = request, .result = result, .failing = {}});
  }
  [[nodiscard]] bool decided() const {
    bool all = false;
    judge([&](const ComparisonOutput& output) { all = output.result.count(analysis::Verdict::ambiguous) == 0; });
    return all;
  }

  const ProgramsOptions& options_;
  CancelToken& cancel_;
  Programs programs_;
  RunStore store_;
  SweepPlan plan_;
  SweepRounds rounds_;
  std::vector<std::size_t> looks_;
  std::vector<bool> ended_;  ///< of a point: a side of it did not run
  bool wrong_ = false;       ///< a result of either program is
  int whole_rounds_ = 0;
  bool out_of_time_ = false;
  std::string device_name_;
  std::array<std::string, 2> builds_;
  std::array<std::int64_t, 2> runs_{};
  StatusLine line_;
};

}  // namespace

ExitCode ab_programs(const ProgramsOptions& options, Arguments arguments, Output& out) {
  CancelToken& cancel = cancel_on_signals();
  if (options.output.empty())
    throw CommandError(ExitCode::usage, "what two programs found is judged from a file: name one with -o FILE");
  if (options.rounds < fewest_starts)
    throw CommandError(ExitCode::usage, "--rounds: what a process does to a point is known of {} starts or more",
                       fewest_starts);
  ProgramTurns turns(options, arguments, cancel);
  turns.run();
  turns.print(out);
  return turns.code();
}

}  // namespace attnscope
