// SPDX-License-Identifier: Apache-2.0
// ab: two points, interleaved, until a verdict stands (profiler/stats/verdicts.h). Its rounds are a run in a file,
// which is judged and printed as `compare` does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/commands/ab_programs.h"
#include "app/commands/collect.h"
#include "app/compared_sides.h"
#include "app/comparison_output.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "profiler/compare/alignment.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/sweep.h"
#include "profiler/plan/text.h"
#include "profiler/stats/verdicts.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct AbOptions {
  Arguments arguments;
  std::vector<std::string> axes;
  std::array<std::vector<std::string>, 2> sides;                    ///< base, other
  std::array<std::string, 2> programs{std::string(), own_program};  ///< base: empty for points
  std::string preset;
  std::string device;
  std::string output;  ///< empty: nothing is kept
  std::string cache_control = "all";
  std::size_t rounds = 320;
  int samples = 10;
  double timeout_seconds = 120;
  double margin_percent = 1;
  bool no_verify = false;
  Output result;
};

Axis axis_of(const std::string& word) {
  Result<Axis, Message> axis = parse_axis(word, known_algorithms());
  if (!axis) throw CommandError(ExitCode::usage, axis.error());
  if (axis->values.size() != 1) throw CommandError(ExitCode::usage, "'{}': a side is one point; give one value", word);
  return std::move(axis).value();
}

/// What both have, and what the side has of its own, which stands before it.
PointSpec point_of_side(const AbOptions& options, std::size_t side, const DeviceLimits& limits) {
  std::vector<Axis> axes;
  for (const std::string& word : options.sides.at(side)) axes.push_back(axis_of(word));
  const std::size_t own = axes.size();
  for (const std::string& word : options.axes) {
    Axis axis = axis_of(word);
    const auto end = axes.begin() + static_cast<std::ptrdiff_t>(own);
    if (std::find_if(axes.begin(), end, [&](const Axis& of_side) { return of_side.name == axis.name; }) == end) {
      axes.push_back(std::move(axis));
    }
  }
  const CacheState cache = options.cache_control == "none" ? CacheState::warm : CacheState::cold;
  Result<PointSpec, Message> point = make_point(axes, cache, limits, known_algorithms());
  if (!point) throw CommandError(ExitCode::usage, point.error());
  return std::move(point).value();
}

MeasureOptions measure_options(const AbOptions& options) {
  MeasureOptions measure;
  measure.counters = false;
  measure.verify = !options.no_verify;
  measure.min_samples = measure.max_samples = options.samples;
  return measure;
}

/// The file that -o names, else one that is removed at the end.
class RoundsFile {
 public:
  explicit RoundsFile(const std::string& named)
      : path_(named.empty() ? fs::temp_directory_path() / fmt::format("attnscope-ab-{}.attnscope", ::getpid())
                            : fs::path(named)),
        temporary_(named.empty()) {
    if (temporary_) remove();
  }
  ~RoundsFile() {
    if (temporary_) remove();
  }
  RoundsFile(const RoundsFile&) = delete;
  RoundsFile& operator=(const RoundsFile&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] bool kept() const { return !temporary_; }

 private:
  void remove() const {
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm"}) fs::remove(path_.string() + ending, ignored);
  }

  fs::path path_;
  bool temporary_;
};

/// A run of two points, round after round.
class Turns {
 public:
  Turns(const OpenedDevice& opened, const AbOptions& options, const std::array<PointSpec, 2>& points,
        const fs::path& file, const CancelToken& cancel)
      : device_(*opened.device),
        options_(options),
        points_(points),
        cancel_(cancel),
        most_rounds_(device_.info().simulated ? 1 : options.rounds),
        measure_(measure_options(options)),
        random_(measure_.seed),
        store_(RunStore::open(file, RunStore::Mode::collect)) {
    const SweepPlan plan{.preset = std::string(ab_preset), .description = {}, .points = {points[0], points[1]}};
    RunHeader header{.device = device_.info(),
                     .environment = device_.environment(),
                     .preset = plan.preset,
                     .argv = {options.arguments.begin(), options.arguments.end()},
                     .plan_hash = plan_hash(plan, "ab"),
                     .planned_points = points.size(),
                     .options = measure_,
                     .simulated_because = opened.simulated_because,
                     .rounds = static_cast<int>(most_rounds_)};
    header.environment.app_version = program_version();
    run_ = store_.begin_run(header);
  }

  /// Until a verdict stands, time is out, or it is cancelled.
  void run() {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.timeout_seconds);
    device_.prepare(points_, cancel_, {});
    const std::vector<std::size_t> looks = analysis::rounds_to_look_at(most_rounds_);
    while (rounds_ < most_rounds_ && !out_of_time_ && round()) {
      if (std::ranges::find(looks, rounds_) != looks.end() && decided()) break;
      out_of_time_ = rounds_ < most_rounds_ && Clock::now() >= end;
    }
    store_.finish_run(run_, cancel_.cancelled() ? StoredRunState::cancelled : StoredRunState::complete);
  }

  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  [[nodiscard]] bool out_of_time() const { return out_of_time_; }
  [[nodiscard]] std::int64_t id() const { return run_; }
  [[nodiscard]] std::string side_word() const { return fmt::format("{}:{}", store_.file().string(), run_); }

  /// Calls `use` with the ComparisonOutput of all rounds.
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

 private:
  /// Both points once, in random order; the first round has them checked against the reference. False: cancelled.
  bool round() {
    measure_.verify = !options_.no_verify && rounds_ == 0;
    std::array<std::size_t, 2> order{0, 1};
    if (std::bernoulli_distribution()(random_)) std::swap(order[0], order[1]);
    std::array<PointRecord, 2> records;
    for (const std::size_t side : order) {
      PointRecord& record = records.at(side);
      record = device_.measure(points_.at(side), measure_, cancel_);
      if (record.disposition == Disposition::cancelled) return false;
      if (record.disposition == Disposition::ok || record.disposition == Disposition::no_counters) continue;
      keep(side, record);
      store_.finish_run(run_, StoredRunState::failed);
      throw CommandError(ExitCode::error, "{}: {}: {}", describe(record.spec), to_string(record.disposition),
                         record.reason);
    }
    for (const std::size_t side : {0U, 1U}) keep(side, records.at(side));
    ++rounds_;
    return true;
  }

  void keep(std::size_t side, const PointRecord& record) {
    if (rounds_ == 0) {
      store_.add_point(run_, side, record);
    } else {
      store_.add_round(run_, side, static_cast<int>(rounds_), record);
    }
  }

  [[nodiscard]] bool decided() const {
    bool all = false;
    judge([&](const ComparisonOutput& output) { all = output.result.count(analysis::Verdict::ambiguous) == 0; });
    return all;
  }

  Device& device_;
  const AbOptions& options_;
  std::array<PointSpec, 2> points_;
  const CancelToken& cancel_;
  std::size_t most_rounds_;
  MeasureOptions measure_;
  std::mt19937_64 random_;
  RunStore store_;
  std::int64_t run_ = 0;
  std::size_t rounds_ = 0;
  bool out_of_time_ = false;
};

ExitCode ab_of_programs(AbOptions& options) {
  MeasureOptions measure = measure_options(options);
  return ab_programs({.programs = options.programs,
                      .preset = options.preset,
                      .axes = options.axes,
                      .cache = options.cache_control == "none" ? CacheState::warm : CacheState::cold,
                      .device = options.device,
                      .output = options.output,
                      .rounds = static_cast<int>(options.rounds),
                      .timeout_seconds = options.timeout_seconds,
                      .margin_percent = options.margin_percent,
                      .measure = measure},
                     options.arguments, options.result);
}

/// "kernel=v1.json" becomes "algorithm=NAME": both sides may be of one name, two versions of a kernel.
void load_kernels_of_sides(AbOptions& options) {
  constexpr std::string_view key = "kernel=";
  std::map<std::string, std::string, std::less<>> names;  // of files
  for (std::vector<std::string>& words : options.sides) {
    for (std::string& word : words) {
      if (!word.starts_with(key)) continue;
      const std::string file = word.substr(key.size());
      if (!names.contains(file)) {
        require_there(file);
        const auto name = user::know_version(file);
        if (!name) throw CommandError(ExitCode::usage, name.error());
        names[file] = *name;
      }
      word = "algorithm=" + names[file];
    }
  }
}

ExitCode ab(AbOptions& options) {
  if (!options.programs[0].empty()) return ab_of_programs(options);
  if (options.sides[0].empty() || options.sides[1].empty())
    throw CommandError(ExitCode::usage,
                       "give two points with --base and --with, or another build of this program with --base-program");
  CancelToken& cancel = cancel_on_signals();
  const OpenedDevice opened = open_device(options.device, false);
  Device& device = *opened.device;
  const DeviceLimits& limits = device.info().limits;
  const std::array<PointSpec, 2> points{point_of_side(options, 0, limits), point_of_side(options, 1, limits)};
  if (points[0] == points[1])
    throw CommandError(ExitCode::usage, "both sides are {}; give --base and --with words in which they differ",
                       describe(points[0]));
  const RoundsFile file(options.output);
  Turns turns(opened, options, points, file.path(), cancel);
  turns.run();
  if (turns.rounds() == 0) return ExitCode::partial;  // cancelled before there was anything
  Output& out = options.result;
  out.line(format_text("Device: {}", opened.announcement));
  out.line(device.info().simulated
               ? "Computed, not measured: one round says all."
               : format_text("Both in each round, in random order, {} samples each. Looked at after {} rounds, each "
                             "time with its part of the 5%, so that stopping when decided makes no verdict less true; "
                             "the interval holds at whichever look was the last.",
                             options.samples, fmt::join(analysis::rounds_to_look_at(options.rounds), ", ")));
  out.gap();
  turns.judge([&](const ComparisonOutput& output) { print(output, out); });
  if (turns.out_of_time())
    out.line(
        format_text("Time ran out before all was decided; --timeout takes more than {} s.", options.timeout_seconds));
  if (file.kept()) {
    out.line(format_text("Kept as run {} of {}; `attnscope compare {}` judges it anew.", turns.id(),
                         file.path().string(), shell_quoted(turns.side_word())));
  }
  return cancel.cancelled() ? ExitCode::partial : ExitCode::ok;
}

}  // namespace

Action add_ab(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<AbOptions>();
  add_kernel_option(command);
  options->arguments = arguments;
  command.add_option("AXES", options->axes,
                     "What both are, one value each: N=4096 d=128 ...; names and values: `attnscope help axes`");
  CLI::Option* base =
      command.add_option("--base", options->sides[0],
                         "What the one is: algorithm=NAME tile=128x64 ...; kernel=FILE for a kernel of your own");
  CLI::Option* with =
      command.add_option("--with", options->sides[1], "What the other is: algorithm=NAME tile=128x64 ...; kernel=FILE");
  const CLI::Validator program_there(
      [](const std::string& file) {
        require_there(file);
        return std::string();
      },
      "");
  CLI::Option* program =
      command
          .add_option("--base-program", options->programs[0],
                      "Another build of this program: both measure the same points, each started anew in every round. "
                      "AXES may have several values then; -o says where both runs go")
          ->type_name("PROGRAM")
          ->check(program_there)
          ->excludes(base, with);
  command.add_option("--with-program", options->programs[1], "The build that is held to it (default: this program)")
      ->type_name("PROGRAM")
      ->check(program_there)
      ->needs(program);
  command.add_option("--preset", options->preset, "Named sweep, of which AXES replace axes")
      ->type_name("NAME")
      ->needs(program);
  command
      .add_option(
          "-o,--output", options->output,
          "Keep the rounds as a run of two points in FILE, made or continued: `attnscope compare FILE` judges them")
      ->type_name("FILE");
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  command.add_option("--rounds", options->rounds, "The most rounds; it ends before that once a verdict stands")
      ->check(CLI::Range(3, 100'000))
      ->capture_default_str();
  command.add_option("--samples", options->samples, "Samples of each point in a round, of which the median counts")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--timeout", options->timeout_seconds, "Seconds for all of it")
      ->check(number_within(0.001, 86400.0))
      ->capture_default_str();
  command.add_option("--margin", options->margin_percent, "Percent below which a change is none")
      ->check(number_within(0.01, 50))
      ->capture_default_str();
  command
      .add_option("--cache-control", options->cache_control,
                  "'all' overwrites the L2 before each time (cold), 'none' leaves it as it is (warm)")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  command.add_flag("--no-verify", options->no_verify, "Do not hold the first round's outputs to the reference");
  options->result.add_to(command, Output::tables, Output::File::no);
  return [options] {
    load_kernels_of_sides(*options);
    return options->result.run([&] { return ab(*options); });
  };
}

}  // namespace attnscope
