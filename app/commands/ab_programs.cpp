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

#include "app/child_device.h"
#include "app/compared_sides.h"
#include "app/comparison_output.h"
#include "app/interrupt.h"
#include "app/point_words.h"
#include "app/status_line.h"
#include "kernels/registry.h"
#include "messages/ab.h"
#include "messages/terminal.h"
#include "profiler/analysis/alignment.h"
#include "profiler/measure/host_environment.h"
#include "profiler/metrics/rounds.h"
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
  Programs(const ProgramsOptions& options, const CancelToken& cancel) : options_(options), cancel_(cancel) {}

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
    const DeviceInfo& base = sides_[0]->info();
    const DeviceInfo& other = sides_[1]->info();
    if (base.uuid != other.uuid || base.simulated != other.simulated) {
      throw CommandError(ExitCode::error, say::ab::two_devices{.base = base.limits.name, .other = other.limits.name});
    }
  }

  [[nodiscard]] Device& of(std::size_t side) { return *sides_.at(side); }
  /// A new process where the last one lost its device.
  void mend(std::size_t side) {
    if (!of(side).usable()) sides_.at(side) = open_child_device(options_.programs.at(side), options_.device, cancel_);
  }

 private:
  const ProgramsOptions& options_;
  const CancelToken& cancel_;
  std::array<std::unique_ptr<Device>, 2> sides_;
};

/// "1.4.0 (0b51a03c2d4e)": the digest tells two builds of one version apart.
std::string build_of(const std::string& program, const Device& device) {
  constexpr std::size_t digits = 12;
  return fmt::format("{} ({})", device.environment().app_version, file_digest(program).substr(0, digits));
}

/// Every point twice: the first half is the base's, as has_two_sides() has it.
SweepPlan plan_of(const ProgramsOptions& options, const DeviceLimits& limits) {
  SweepRequest request{.preset = options.preset, .axes = {}, .algorithms = {}, .cache = options.cache};
  for (const std::string& word : options.axes) {
    Result<Axis, Message> axis = parse_axis(word, built_in_algorithms());
    if (!axis) throw CommandError(ExitCode::usage, axis.error());
    request.axes.push_back(std::move(axis).value());
  }
  Result<SweepPlan, Message> plan = make_plan(request, limits, built_in_algorithms());
  if (!plan) throw CommandError(ExitCode::usage, plan.error());
  plan->preset = programs_preset;
  const std::vector<PointSpec> once = plan->points;
  plan->points.insert(plan->points.end(), once.begin(), once.end());
  return std::move(plan).value();
}

class ProgramTurns {
 public:
  ProgramTurns(const ProgramsOptions& options, Arguments arguments, CancelToken& cancel)
      : options_(options),
        cancel_(cancel),
        programs_(options, cancel),
        store_(RunStore::open(options.output, RunStore::Mode::collect)) {
    programs_.start();
    Device& base = programs_.of(0);
    device_name_ = base.info().limits.name;
    plan_ = plan_of(options, base.info().limits);
    ended_.resize(plan_.points.size());
    rounds_ = {.count = base.info().simulated ? 1 : options.rounds,
               .seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) %
                       (1ULL << 53U)};
    looks_ = analysis::rounds_to_look_at(static_cast<std::size_t>(rounds_.count));
    RunHeader header{.device = base.info(),
                     .environment = base.environment(),
                     .preset = plan_.preset,
                     .argv = {arguments.begin(), arguments.end()},
                     .plan_hash = plan_hash(plan_, plan_.preset),
                     .planned_points = plan_.points.size(),
                     .options = options.measure,
                     .rounds = rounds_.count,
                     .order_seed = rounds_.count > 1 ? rounds_.seed : 0};
    builds_ = say::ab::builds{.base = build_of(options.programs[0], base),
                              .other = build_of(options.programs[1], programs_.of(1))};
    header.environment.app_version = text(builds_);
    run_ = store_.begin_run(header);
  }

  /// Until a verdict stands everywhere; whether that was not cancelled.
  bool run() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.timeout_seconds);
    for (int round = 0; round < rounds_.count; ++round) {
      if (round > 0) programs_.start();
      if (!take(round)) break;
      const bool out_of_time = round + 1 >= fewest_starts && Clock::now() >= end;
      if (out_of_time) break;
      if (std::ranges::find(looks_, static_cast<std::size_t>(round) + 1) != looks_.end() && decided()) break;
    }
    line_.clear();
    store_.finish_run(run_, cancel_.cancelled() ? StoredRunState::cancelled : StoredRunState::complete);
    return !cancel_.cancelled();
  }

  /// What the file says of it.
  void print(std::ostream& out) const {
    if (!options_.json) {
      out << text(say::terminal::device{.device = Message::verbatim(device_name_)}) << '\n'
          << text(builds_) << '\n'
          << text(rounds_.count == 1 ? Message(say::ab::computed{}) : say::ab::rule_of_programs{.samples = options_.measure.max_samples,
                                            .looks = fmt::format("{}", fmt::join(looks_, ", "))})
          << "\n\n";
    }
    judge([&](const ComparisonOutput& output) {
      attnscope::print(output, options_.json ? ComparisonFormat::json : ComparisonFormat::text, out);
    });
    if (options_.json) return;
    out << text(say::ab::kept{.run = run_, .file = store_.file().string(), .word = shell_word(side_word())}) << '\n';
  }

 private:
  /// One round: both programs, all points; false where it was cancelled.
  bool take(int round) {
    MeasureOptions measure = options_.measure;
    measure.verify = measure.verify && round == 0;
    measure.placement = rounds_.seed + static_cast<std::uint64_t>(round) + 1;
    const std::size_t points = plan_.points.size() / 2;
    if (round == 0) {
      for (const std::size_t side : {0U, 1U}) {
        programs_.of(side).prepare(std::span(plan_.points).first(points), cancel_, {});
      }
    }
    std::size_t done = 0;
    for (const std::size_t place : round_order(plan_.points.size(), round, rounds_)) {
      line_.show(text(say::ab::progress{.round = round + 1, .percent = 100 * done++ / plan_.points.size()}));
      if (round > 0 && ended_[place % points]) continue;
      const std::size_t side = place / points;
      programs_.mend(side);
      const PointRecord record = programs_.of(side).measure(plan_.points[place], of_place(measure, place), cancel_);
      if (record.disposition == Disposition::cancelled || cancel_.cancelled()) return false;
      keep(place, round, record);
    }
    return true;
  }

  void keep(std::size_t place, int round, const PointRecord& record) {
    if (round == 0) {
      store_.add_point(run_, place, record);
    } else {
      store_.add_round(run_, place, round, record);
    }
    if (!measured_again(record.disposition)) ended_[place % (plan_.points.size() / 2)] = true;
  }

  [[nodiscard]] MeasureOptions of_place(MeasureOptions measure, std::size_t place) const {
    if (!measure.planted.changes(place, plan_.points.size())) measure.planted.share = 0;
    return measure;
  }

  [[nodiscard]] std::string side_word() const { return fmt::format("{}:{}", store_.file().string(), run_); }

  template <class Use>
  void judge(Use use) const {
    const ComparedSides sides = compared_sides({side_word()}, {}, {});
    const analysis::ComparisonRequest request{
        .base = sides.base,
        .other = sides.other,
        .alignment = analysis::alignment_of_halves(sides.table, sides.base, sides.other),
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
  std::string device_name_;
  Message builds_;
  std::int64_t run_ = 0;
  StatusLine line_;
};

}  // namespace

ExitCode ab_programs(const ProgramsOptions& options, Arguments arguments) {
  CancelToken& cancel = cancel_on_signals();
  if (options.output.empty()) throw CommandError(ExitCode::usage, say::ab::programs_want_file{});
  if (options.rounds < fewest_starts) throw CommandError(ExitCode::usage, say::ab::few_rounds{.fewest = fewest_starts});
  ProgramTurns turns(options, arguments, cancel);
  const bool whole = turns.run();
  turns.print(std::cout);
  return whole ? ExitCode::ok : ExitCode::partial;
}

}  // namespace attnscope
