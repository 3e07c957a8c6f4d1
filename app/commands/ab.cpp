// SPDX-License-Identifier: Apache-2.0
// ab: measures two points, or two builds of this program, in interleaved rounds until the verdicts are decided
// (profiler/stats/verdicts.h). The rounds are stored as runs and compared as by `compare`.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/commands/collect.h"
#include "app/comparison.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/sweep_options.h"
#include "app/user_kernels.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "profiler/files/file_system.h"
#include "profiler/measure/device.h"
#include "profiler/measure/interleaved.h"
#include "profiler/metrics/rounds.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/sweep.h"
#include "profiler/units/number_format.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using analysis::ComparisonView;
using analysis::Verdict;

/// Minimum rounds for two programs: the variation between processes is estimated from them.
constexpr int min_process_rounds = 5;

struct AbOptions {
  Arguments arguments;
  std::vector<std::string> axes;
  std::array<std::vector<std::string>, 2> sides;  ///< axes of baseline and candidate
  /// programs of baseline and candidate; baseline empty when comparing points
  std::array<std::string, 2> programs{std::string(), executable_path};
  std::string preset;
  std::string device;
  std::string output;  ///< empty: a temporary file
  std::string cache_control = "all";
  int rounds = 320;
  int samples = 10;
  double timeout_seconds = 120;
  double margin_percent = 1;
  bool no_verify = false;
  Output result;

  [[nodiscard]] CacheState cache() const { return cache_control == "none" ? CacheState::warm : CacheState::cold; }
};

/// Combines the axes of a side with the common axes; the side's take precedence.
PointSpec point_of_side(const AbOptions& options, std::size_t side, const DeviceLimits& limits) {
  const std::vector<Axis> own = parse_axes(options.sides.at(side));
  std::vector<Axis> axes = own;
  for (Axis& axis : parse_axes(options.axes)) {
    if (std::ranges::find(own, axis.name, &Axis::name) == own.end()) axes.push_back(std::move(axis));
  }
  for (const Axis& axis : axes) {
    if (axis.values.size() != 1)
      throw CommandError(ExitCode::usage, "{} has several values: each side is one point (give one value)", axis.name);
  }
  Result<PointSpec, Message> point = make_point(axes, options.cache(), limits, known_algorithms());
  if (!point) throw CommandError(ExitCode::usage, point.error());
  return std::move(point).value();
}

SweepPlan plan_of_programs(const AbOptions& options, const DeviceLimits& limits) {
  const SweepRequest request{
      .preset = options.preset, .axes = parse_axes(options.axes), .algorithms = {}, .cache = options.cache()};
  Result<SweepPlan, Message> plan = make_plan(request, limits, known_algorithms());
  if (!plan) throw CommandError(ExitCode::usage, plan.error());
  return std::move(plan).value();
}

/// File of -o, or a temporary file that the destructor removes.
struct RoundsFile {
  explicit RoundsFile(const std::string& named)
      : is_temporary(named.empty()),
        path(is_temporary ? fs::temp_directory_path() / fmt::format("attnscope-ab-{}.attnscope", ::getpid())
                          : fs::path(named)) {
    remove();
  }
  ~RoundsFile() { remove(); }
  RoundsFile(const RoundsFile&) = delete;
  RoundsFile& operator=(const RoundsFile&) = delete;

  bool is_temporary;
  fs::path path;

 private:
  void remove() const {
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm"}) {
      if (is_temporary) fs::remove(path.string() + ending, ignored);
    }
  }
};

/// Current worker process of each program.
class Programs {
 public:
  Programs(const AbOptions& options, const CancelToken& cancel) : options_(options), cancel_(cancel) { start(); }

  void start() {
    sides_ = {};
    std::array<std::future<std::unique_ptr<Device>>, 2> opening;
    for (const std::size_t side : {0U, 1U}) {
      opening.at(side) = std::async(std::launch::async, [this, side] { return open(side); });
    }
    for (const std::size_t side : {0U, 1U}) sides_.at(side) = opening.at(side).get();
    for (const std::size_t side : {0U, 1U}) require_equal_device(side);
  }

  /// Restarts the process if its device was lost.
  [[nodiscard]] Device& of(std::size_t side) {
    if (!sides_.at(side)->usable()) {
      sides_.at(side) = open(side);
      require_equal_device(side);
    }
    return *sides_.at(side);
  }
  /// "1.4.0 (0b51a03c2d4e)": version and digest of the program file.
  [[nodiscard]] std::string build(std::size_t side) {
    constexpr std::size_t digits = 12;
    return fmt::format("{} ({})", of(side).environment().app_version,
                       file_digest(options_.programs.at(side)).substr(0, digits));
  }

 private:
  [[nodiscard]] std::unique_ptr<Device> open(std::size_t side) const {
    return open_child_device(options_.programs.at(side), options_.device, cancel_);
  }
  /// Throws CommandError if the devices of the processes differ.
  void require_equal_device(std::size_t side) {
    const DeviceInfo& device = sides_.at(side)->info();
    if (!first_) first_ = device;
    if (device.uuid == first_->uuid && device.simulated == first_->simulated) return;
    throw CommandError(ExitCode::error, "the programs opened different devices, {} and {} (set --device)",
                       first_->limits.name, device.limits.name);
  }

  const AbOptions& options_;
  const CancelToken& cancel_;
  std::array<std::unique_ptr<Device>, 2> sides_;
  std::optional<DeviceInfo> first_;
};

class Rounds {
 public:
  Rounds(const AbOptions& options, const fs::path& file, CancelToken& cancel)
      : options_(options), cancel_(cancel), store_(RunStore::open(file, RunStore::Mode::collect)) {
    plan_.timeout = std::chrono::duration<double>(options.timeout_seconds);
    plan_.measure.counters = false;
    plan_.measure.verify = !options.no_verify;
    plan_.measure.min_samples = plan_.measure.max_samples = options.samples;
    hooks_.decided = [this] {
      const ComparedSides sides = compared();
      const ComparisonView view = view_of(sides, {}, options_.margin_percent);
      print_progress(view);
      return view.count(Verdict::ambiguous) == 0;
    };
  }

  /// Measures two points as one run. Stores a round when both points are measured, or a failed point alone.
  InterleavedOutcome of_points(const OpenedDevice& opened, const std::array<PointSpec, 2>& points) {
    Device& device = *opened.device;
    const SweepPlan plan{.preset = std::string(ab_preset), .description = {}, .points = {points[0], points[1]}};
    plan_.sides = {std::vector{points[0]}, std::vector{points[1]}};
    set_rounds(device, plan_.measure.seed);
    RunHeader header = run_header(device, plan, plan.preset);
    header.simulation_reason = opened.simulation_reason;
    header.order_seed = 0;  // with two points, shuffling cannot separate drift from order
    header.environment.app_version = program_version();
    runs_ = {store_.begin_run(header)};
    words_ = {side_argument(0)};
    device.prepare(plan.points, cancel_, {});
    std::array<PointRecord, 2> round_records;
    std::size_t in_round = 0;
    hooks_.begin_round = [](int) { return true; };
    hooks_.device = [&](std::size_t) -> Device& { return device; };
    hooks_.progress = [](int, std::size_t) {};
    hooks_.keep = [&](std::size_t side, std::size_t, int round, const PointRecord& record) {
      if (!can_remeasure(record.disposition)) {
        keep(runs_[0], side, round, record);
        store_.finish_run(runs_[0], StoredRunState::failed);
        throw CommandError(ExitCode::error, "{}: {}: {}", describe(record.spec), to_string(record.disposition),
                           record.reason);
      }
      round_records.at(side) = record;
      if (++in_round % 2 > 0) return;
      for (const std::size_t each : {0U, 1U}) keep(runs_[0], each, round, round_records.at(each));
    };
    return run();
  }

  /// Measures two programs as one run each. Restarts both in every round, so that samples are independent processes.
  InterleavedOutcome of_programs(Programs& programs) {
    const SweepPlan plan = plan_of_programs(options_, programs.of(0).info().limits);
    plan_.sides = {plan.points, plan.points};
    plan_.min_rounds = min_process_rounds;
    set_rounds(programs.of(0), new_order_seed());
    plan_.placement = plan_.rounds.seed + 1;
    for (const std::size_t side : {0U, 1U}) {
      RunHeader header = run_header(programs.of(side), plan, side == 0 ? base_program_preset : other_program_preset);
      header.environment.app_version = programs.build(side);
      runs_.push_back(store_.begin_run(header));
      words_.push_back(side_argument(side));
      programs.of(side).prepare(plan.points, cancel_, {});
    }
    StatusLine line;
    hooks_.begin_round = [&](int round) {
      try {
        if (round > 0) programs.start();
      } catch (const CommandError& error) {
        if (error.code() == ExitCode::partial) return false;  // cancelled while starting
        throw;
      }
      return true;
    };
    hooks_.device = [&](std::size_t side) -> Device& { return programs.of(side); };
    hooks_.progress = [&](int round, std::size_t percent) {
      line.show(format_text("Round {}: {}%", round + 1, percent));
    };
    hooks_.keep = [&](std::size_t side, std::size_t place, int round, const PointRecord& record) {
      keep(runs_[side], place, round, make_storable(record));
    };
    const InterleavedOutcome outcome = run();
    line.clear();
    return outcome;
  }

  /// Prints what was measured and how, the comparison, and where the rounds are stored.
  void print(const InterleavedOutcome& outcome, const Message& device, std::string_view how, Output& out) const {
    out.line(format_text("Device: {}", device));
    out.line(
        plan_.rounds.count == 1
            ? "Simulated, not measured: one round."
            : format_text("Each round {}, {} samples each. Interim analyses after {} rounds share the 5% error rate.",
                          how, options_.samples, fmt::join(plan_.looks, ", ")));
    out.blank_line();
    ComparedSides sides = compared();
    if (sides.halves) sides.base_name = "baseline";
    attnscope::print(sides, view_of(sides, {}, options_.margin_percent), out);
    if (outcome.timed_out)
      out.line(format_text("Time limit of {} s reached with undecided points (increase --timeout).",
                           options_.timeout_seconds));
    if (options_.output.empty()) return;
    const std::string base = shell_quoted(words_[0]);
    out.line(words_.size() == 1
                 ? format_text("Stored as run {} in {}; `attnscope compare {}` prints this comparison again.", runs_[0],
                               file(), base)
                 : format_text("Stored in {}; `attnscope compare {} --candidate {}` prints this comparison again.",
                               file(), base, shell_quoted(words_[1])));
  }

 private:
  [[nodiscard]] std::string file() const { return store_.file().string(); }
  /// Prints a row of the table of interim analyses to stderr.
  void print_progress(const ComparisonView& view) {
    if (!options_.result.is_text_output()) return;
    const auto row = [](const std::array<std::string, 6>& cells) {
      std::string line;
      for (const std::string& cell : cells) line += pad_to_width(cell, line.empty() ? 6 : 10, true);
      fmt::print(stderr, "{}\n", line);
    };
    if (std::exchange(first_row_, false)) row({"rounds", "FASTER", "SLOWER", "SAME", "UNDECIDED", "elapsed"});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    row({fmt::to_string(rounds_done_), fmt::to_string(view.count(Verdict::faster)),
         fmt::to_string(view.count(Verdict::slower)), fmt::to_string(view.count(Verdict::same)),
         fmt::to_string(view.count(Verdict::ambiguous)), text(Seconds(elapsed.count()))});
  }
  /// A simulation is deterministic, so it needs one round.
  void set_rounds(const Device& device, std::uint64_t seed) {
    plan_.rounds = {.count = device.info().simulated ? 1 : options_.rounds, .seed = seed};
    plan_.looks = analysis::analysis_rounds(static_cast<std::size_t>(plan_.rounds.count));
  }
  [[nodiscard]] RunHeader run_header(const Device& device, const SweepPlan& plan, std::string_view preset) const {
    return {.device = device.info(),
            .environment = device.environment(),
            .preset = std::string(preset),
            .argv = {options_.arguments.begin(), options_.arguments.end()},
            .plan_hash = plan_hash(plan, preset),
            .planned_points = plan.points.size(),
            .options = plan_.measure,
            .rounds = plan_.rounds.count,
            .order_seed = plan_.rounds.seed};
  }
  [[nodiscard]] std::string side_argument(std::size_t run) const { return fmt::format("{}:{}", file(), runs_[run]); }
  void keep(std::int64_t run, std::size_t place, int round, const PointRecord& record) {
    rounds_done_ = std::max(rounds_done_, round + 1);
    round == 0 ? store_.add_point(run, place, record) : store_.add_round(run, place, round, record);
  }
  InterleavedOutcome run() {
    const InterleavedOutcome outcome = measure_interleaved(plan_, hooks_, cancel_);
    for (const std::int64_t run : runs_) {
      store_.finish_run(run, cancel_.cancelled() ? StoredRunState::cancelled : StoredRunState::complete);
    }
    return outcome;
  }
  [[nodiscard]] ComparedSides compared() const {
    return compared_sides({words_[0]}, {words_.begin() + 1, words_.end()}, {});
  }

  const AbOptions& options_;
  CancelToken& cancel_;
  RunStore store_;
  InterleavedPlan plan_;
  InterleavedHooks hooks_;
  std::vector<std::int64_t> runs_;
  std::vector<std::string> words_;
  int rounds_done_ = 0;
  bool first_row_ = true;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

ExitCode ab_of_programs(AbOptions& options) {
  CancelToken& cancel = cancel_on_signals();
  if (options.output.empty())
    throw CommandError(ExitCode::usage, "--baseline-program requires an output file (give -o FILE)");
  if (options.rounds < min_process_rounds)
    throw CommandError(ExitCode::usage, "--rounds must be at least {} with --baseline-program", min_process_rounds);
  Programs programs(options, cancel);
  const Message measured = make_message("{}\nBaseline {}, candidate {}", programs.of(0).info().limits.name,
                                        programs.build(0), programs.build(1));
  Rounds rounds(options, options.output, cancel);
  const InterleavedOutcome outcome = rounds.of_programs(programs);
  if (outcome.rounds > 0)  // no round if cancelled during the first
    rounds.print(outcome, measured, "restarts both programs and measures all points in shuffled order", options.result);
  return outcome.failed || cancel.cancelled() ? ExitCode::partial : ExitCode::ok;
}

/// Replaces "kernel=v1.json" by "algorithm=NAME". Both sides may have one NAME, for two versions of a kernel.
void load_kernels_of_sides(AbOptions& options) {
  constexpr std::string_view key = "kernel=";
  std::map<std::string, std::string, std::less<>> names;  // keyed by file
  for (std::vector<std::string>& words : options.sides) {
    for (std::string& word : words) {
      if (!word.starts_with(key)) continue;
      const std::string file = word.substr(key.size());
      if (!names.contains(file)) {
        require_kernel_exists(file);
        const auto name = user::load_kernel_version(file);
        if (!name) throw CommandError(ExitCode::usage, name.error());
        names[file] = *name;
      }
      word = "algorithm=" + names[file];
    }
  }
}

ExitCode ab(AbOptions& options) {
  if (!options.programs[0].empty()) {
    if (user::has_python_kernels())
      throw CommandError(ExitCode::usage, "--baseline-program cannot measure Python functions (use --baseline)");
    return ab_of_programs(options);
  }
  if (options.sides[0].empty() || options.sides[1].empty())
    throw CommandError(ExitCode::usage, "missing sides (give --baseline and --candidate, or --baseline-program)");
  CancelToken& cancel = cancel_on_signals();
  const OpenedDevice opened = open_device(options.device, false);
  const DeviceLimits& limits = opened.device->info().limits;
  const std::array<PointSpec, 2> points{point_of_side(options, 0, limits), point_of_side(options, 1, limits)};
  if (points[0] == points[1])
    throw CommandError(ExitCode::usage, "baseline and candidate are both {} (give them different axes or kernels)",
                       describe(points[0]));
  const RoundsFile file(options.output);
  Rounds rounds(options, file.path, cancel);
  const InterleavedOutcome outcome = rounds.of_points(opened, points);
  if (outcome.rounds == 0) return ExitCode::partial;  // cancelled during the first round
  rounds.print(outcome, opened.announcement, "measures both points in random order", options.result);
  return cancel.cancelled() ? ExitCode::partial : ExitCode::ok;
}

}  // namespace

Action add_ab(CLI::App& command, Arguments arguments) {
  auto options = std::make_shared<AbOptions>();
  add_kernel_option(command);
  options->arguments = arguments;
  command.add_option("AXES", options->axes,
                     "Axes of both sides with one value each: N=4096 d=128; see `attnscope help axes`");
  CLI::Option* base =
      command
          .add_option("--baseline", options->sides[0],
                      "Axes of the baseline: algorithm=NAME tile=128x64; kernel=FILE or kernel=FILE.py:NAME for a "
                      "user-defined kernel")
          ->type_name("AXIS");
  CLI::Option* with =
      command.add_option("--candidate", options->sides[1], "Axes of the candidate, like --baseline")->type_name("AXIS");
  const CLI::Validator program_there(
      [](const std::string& file) {
        require_path_exists(file);
        return std::string();
      },
      "");
  CLI::Option* program =
      command
          .add_option("--baseline-program", options->programs[0],
                      "Baseline build of attnscope; both builds measure the same points and restart in every round; "
                      "axes may have several values; requires -o")
          ->type_name("PROGRAM")
          ->check(program_there)
          ->excludes(base, with);
  command.add_option("--candidate-program", options->programs[1], "Candidate build (default: this program)")
      ->type_name("PROGRAM")
      ->check(program_there)
      ->needs(program);
  command.add_option("--preset", options->preset, "Named sweep for --baseline-program; see `attnscope help presets`")
      ->type_name("NAME")
      ->needs(program);
  command
      .add_option("-o,--output", options->output, "Store the rounds in this .attnscope file, for `attnscope compare`")
      ->type_name("FILE");
  command.add_option("-d,--device", options->device, device_help)->type_name("DEVICE");
  add_number_option(command, "--rounds", options->rounds, 3, 100'000,
                    "Maximum rounds; stops earlier when the verdict is clear");
  add_number_option(command, "--samples", options->samples, 1, 10'000, "Timing samples per point and round");
  add_number_option(command, "--timeout", options->timeout_seconds, 0.001, 86'400, "Total time limit in seconds");
  add_number_option(command, "--margin", options->margin_percent, 0.01, 50, "Smallest change in percent that counts");
  add_cache_option(command, options->cache_control);
  command.add_flag("--no-verify", options->no_verify,
                   "Skip the comparison with the float64 reference in the first round");
  options->result.add_to(command, Output::tables, Output::File::no);
  return [options] {
    require_measurement_name(options->output);
    load_kernels_of_sides(*options);
    return options->result.run([&] { return ab(*options); });
  };
}

}  // namespace attnscope
