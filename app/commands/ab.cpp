// SPDX-License-Identifier: Apache-2.0
// ab: two points of one problem, in turns, until a verdict stands (profiler/analysis/verdicts.h). What it measured may
// be kept, for compare to judge again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "app/child_device.h"
#include "app/command.h"
#include "app/commands/ab_programs.h"
#include "app/commands/collect.h"
#include "app/devices.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/own_kernels.h"
#include "app/point_fields.h"
#include "kernels/registry.h"
#include "kernels/user/known_kernels.h"
#include "messages/ab.h"
#include "messages/terminal.h"
#include "profiler/analysis/published_errors.h"
#include "profiler/analysis/verdicts.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/sweep.h"
#include "profiler/units/spelling.h"
#include "storage/compared_runs.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::ComparedRow;
using analysis::RatioInterval;
using analysis::RoundsOfSide;
using analysis::RowVerdict;
using analysis::Verdict;
using Clock = std::chrono::steady_clock;

struct AbOptions {
  Arguments arguments;
  std::vector<std::string> axes;
  std::array<std::vector<std::string>, 2> sides;                    ///< base, other
  std::array<std::string, 2> programs{std::string(), own_program};  ///< base: empty for points
  std::string preset;
  std::string plant;
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
  if (axis->values.size() != 1) throw CommandError(ExitCode::usage, say::ab::several_values{.axis = word});
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

/// What came of it all.
struct Rounds {
  std::array<PointSpec, 2> points;
  ComparedRow row;
  RowVerdict verdict;
  std::string judge;  ///< the GPU whose published error a simulation's is
  bool out_of_time = false;
  bool cancelled = false;
};

bool is_simulated(const Rounds& rounds) {
  return rounds.row.model_error > 0;
}

MeasureOptions measure_options(const AbOptions& options) {
  MeasureOptions measure;
  measure.counters = false;
  measure.verify = !options.no_verify;
  measure.min_samples = measure.max_samples = options.samples;
  return measure;
}

/// A run of two points in a file, round after round.
class KeptRounds {
 public:
  KeptRounds(const AbOptions& options, const OpenedDevice& opened, const std::array<PointSpec, 2>& points)
      : store_(RunStore::open(options.output, RunStore::Mode::collect)) {
    const DeviceInfo& device = opened.device->info();
    const SweepPlan plan{.preset = std::string(ab_preset), .description = {}, .points = {points[0], points[1]}};
    RunHeader header{.device = device,
                     .environment = opened.device->environment(),
                     .preset = plan.preset,
                     .argv = {options.arguments.begin(), options.arguments.end()},
                     .plan_hash = plan_hash(plan, "ab"),
                     .planned_points = points.size(),
                     .options = measure_options(options),
                     .simulated_because = opened.simulated_because,
                     .rounds = device.simulated ? 1 : static_cast<int>(options.rounds)};
    header.environment.app_version = program_version();
    run_ = store_.begin_run(header);
  }

  /// A round, once both sides have run.
  void add(const std::array<PointRecord, 2>& records) {
    for (const std::size_t side : {0U, 1U}) add(side, records.at(side));
    ++round_;
  }
  /// What ended otherwise, and all of it with it.
  void add_failed(std::size_t side, const PointRecord& record) {
    add(side, record);
    store_.finish_run(run_, StoredRunState::failed);
  }
  void finish(StoredRunState state) { store_.finish_run(run_, state); }

  [[nodiscard]] std::int64_t run() const { return run_; }
  [[nodiscard]] std::string file() const { return store_.file().string(); }

 private:
  void add(std::size_t side, const PointRecord& record) {
    if (round_ == 0) {
      store_.add_point(run_, side, record);
    } else {
      store_.add_round(run_, side, round_, record);
    }
  }

  RunStore store_;
  std::int64_t run_ = 0;
  int round_ = 0;
};

class Turns {
 public:
  /// `kept`: where rounds go as well; null for nowhere.
  Turns(Device& device, const AbOptions& options, const std::array<PointSpec, 2>& points, KeptRounds* kept,
        const CancelToken& cancel)
      : device_(device),
        kept_(kept),
        cancel_(cancel),
        verify_(!options.no_verify),
        measure_(measure_options(options)),
        random_(measure_.seed) {
    rounds_.points = points;
    rounds_.row.paired = !device.info().simulated;
    if (device.info().simulated) {
      const analysis::PublishedErrors& errors = analysis::published_errors(device.info().limits.name);
      rounds_.row.model_error = analysis::published_ratio_error({points[0], errors}, {points[1], errors}, true);
      rounds_.judge = errors.device;
    }
  }

  /// Both points once, in random order; the first round has them checked against the reference.
  void round() {
    measure_.verify = verify_ && rounds_.row.base.ns.empty();
    std::array<std::size_t, 2> order{0, 1};
    if (std::bernoulli_distribution()(random_)) std::swap(order[0], order[1]);
    std::array<PointRecord, 2> records;
    for (const std::size_t side : order) {
      PointRecord& record = records.at(side);
      record = device_.measure(rounds_.points.at(side), measure_, cancel_);
      if (record.disposition == Disposition::cancelled) {
        rounds_.cancelled = true;
        return;
      }
      if (record.disposition != Disposition::ok && record.disposition != Disposition::no_counters) {
        if (kept_ != nullptr) kept_->add_failed(side, record);
        throw CommandError(ExitCode::error, say::ab::failed{.point = describe(record.spec),
                                                            .disposition = to_string(record.disposition),
                                                            .reason = record.reason});
      }
    }
    add(records[0], rounds_.row.base);
    add(records[1], rounds_.row.other);
    if (kept_ != nullptr) kept_->add(records);
  }

  [[nodiscard]] Rounds& rounds() { return rounds_; }

 private:
  static void add(const PointRecord& record, RoundsOfSide& side) {
    const KernelRecord* sum = record.kernel("all");
    const auto times = sum == nullptr ? std::nullopt : summarize(sum->samples_ns);
    if (!times) {
      throw CommandError(ExitCode::error, say::ab::failed{.point = describe(record.spec),
                                                          .disposition = to_string(record.disposition),
                                                          .reason = record.reason});
    }
    side.ns.push_back(times->median);
    side.recordings.push_back(0);
    if (record.clocks && record.clocks->sm_clock_hz > 0) {
      side.cycles.push_back(times->median * record.clocks->sm_clock_hz / 1e9);
    }
  }

  Device& device_;
  KeptRounds* kept_;
  const CancelToken& cancel_;
  bool verify_;
  MeasureOptions measure_;
  std::mt19937_64 random_;
  Rounds rounds_;
};

RowVerdict judged(ComparedRow row, const analysis::VerdictOptions& options) {
  const bool clocked = row.base.cycles.size() == row.base.ns.size() && row.other.cycles.size() == row.other.ns.size();
  if (!clocked) {
    row.base.cycles.clear();
    row.other.cycles.clear();
  }
  return analysis::judge(std::vector{std::move(row)}, options).at(0);
}

Rounds take_turns(Device& device, const AbOptions& options, const std::array<PointSpec, 2>& points, KeptRounds* kept,
                  const CancelToken& cancel) {
  const auto end = Clock::now() + std::chrono::duration<double>(options.timeout_seconds);
  device.prepare(points, cancel, {});
  Turns turns(device, options, points, kept, cancel);
  const std::vector<std::size_t> looks =
      device.info().simulated ? std::vector<std::size_t>{1} : analysis::rounds_to_look_at(options.rounds);
  const analysis::VerdictOptions each = analysis::of_each_look(
      {.margin = options.margin_percent / 100}, analysis::looks_of_turns(device.info().simulated ? 1 : options.rounds));
  Rounds& rounds = turns.rounds();
  for (const std::size_t look : looks) {
    while (rounds.row.base.ns.size() < look && !rounds.out_of_time && !rounds.cancelled) {
      turns.round();
      rounds.out_of_time = Clock::now() >= end;
    }
    if (rounds.row.base.ns.empty()) break;
    rounds.verdict = judged(rounds.row, each);
    if (rounds.verdict.verdict != Verdict::ambiguous || rounds.cancelled) rounds.out_of_time = false;
    if (rounds.verdict.verdict != Verdict::ambiguous || rounds.out_of_time || rounds.cancelled) break;
  }
  return std::move(rounds);
}

std::string ratio_text(const RatioInterval& ratio) {
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

double median_ns(const RoundsOfSide& side) {
  return summarize(side.ns)->median;
}

/// What is left to say of a verdict that is none.
std::vector<std::string> undecided_words(const Rounds& rounds, const AbOptions& options) {
  const RowVerdict& verdict = rounds.verdict;
  std::vector<std::string> words;
  if (verdict.verdict != Verdict::ambiguous) return words;
  if (is_simulated(rounds)) {
    return {text(say::ab::within_error{.error = text(Share(rounds.row.model_error)), .gpu = rounds.judge})};
  }
  if (rounds.out_of_time) {
    words.push_back(text(say::ab::out_of_time{.seconds = fmt::format("{}", options.timeout_seconds)}));
  } else {
    words.push_back(text(say::ab::undecided{.rounds = verdict.rounds}));
  }
  if (verdict.undecided == analysis::Undecided::clocks) words.push_back(text(say::ab::clocks{}));
  if (verdict.rounds_needed) words.push_back(text(say::ab::would_need{.rounds = *verdict.rounds_needed}));
  return words;
}

/// The fields, as words, in which the two are not one problem; empty where they are.
std::string fields_apart(const std::array<PointSpec, 2>& points) {
  std::string names;
  for (const Field& field : point_fields()) {
    if (field.role != FieldRole::problem && field.role != FieldRole::circumstance) continue;
    if (field_text(field, points[0]) == field_text(field, points[1])) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  }
  return names;
}

void print_for_people(const Rounds& rounds, const OpenedDevice& opened, AbOptions& options, const KeptRounds* kept) {
  const RowVerdict& verdict = rounds.verdict;
  Output& out = options.result;
  out.line(text(say::terminal::device{.device = opened.announcement}));
  out.line(text(say::ab::title{.other = describe(rounds.points[1]), .base = describe(rounds.points[0])}));
  if (const std::string fields = fields_apart(rounds.points); !fields.empty()) {
    out.line(text(say::ab::two_problems{.fields = fields}));
  }
  if (is_simulated(rounds)) {
    out.line(text(say::ab::computed{}));
  } else {
    out.line(
        text(say::ab::rule{.samples = options.samples,
                           .looks = fmt::format("{}", fmt::join(analysis::rounds_to_look_at(options.rounds), ", "))}));
  }
  out.gap();
  out.line(fmt::format("base   {}  {}", text(Nanoseconds(median_ns(rounds.row.base))), describe(rounds.points[0])));
  out.line(fmt::format("other  {}  {}", text(Nanoseconds(median_ns(rounds.row.other))), describe(rounds.points[1])));
  out.gap();
  out.line(text(say::ab::result{.verdict = to_string(verdict.verdict),
                                .margin = fmt::format("{}", options.margin_percent),
                                .ratio = ratio_text(verdict.time),
                                .rounds = verdict.rounds}));
  if (verdict.cycles) out.line(text(say::ab::cycles{.ratio = ratio_text(*verdict.cycles)}));
  for (const std::string& words : undecided_words(rounds, options)) out.line(words);
  if (kept == nullptr) return;
  const std::string word = shell_word(fmt::format("{}:{}", kept->file(), kept->run()));
  out.line(text(say::ab::kept{.run = kept->run(), .file = kept->file(), .word = word}));
}

nlohmann::ordered_json side_json(const PointSpec& point, const RoundsOfSide& side) {
  nlohmann::ordered_json object;
  object["point"] = describe(point);
  object["axes"] = axis_words(point);
  object["median_ns"] = median_ns(side);
  object["rounds_ns"] = side.ns;
  object["rounds_cycles"] = side.cycles;
  return object;
}

/// One row, in base units.
void print_csv(const Rounds& rounds, Output& out) {
  const RowVerdict& verdict = rounds.verdict;
  const auto number = [](double value) { return fmt::format("{:.9g}", value); };
  out.table(Table{
      {{"base"},
       {"other"},
       {"base_ns", true},
       {"other_ns", true},
       {"ratio", true},
       {"ratio_low", true},
       {"ratio_high", true},
       {"rounds", true},
       {"verdict"}},
      {{describe(rounds.points[0]), describe(rounds.points[1]), number(median_ns(rounds.row.base)),
        number(median_ns(rounds.row.other)), number(verdict.time.ratio), number(verdict.time.interval.low),
        number(verdict.time.interval.high), fmt::to_string(verdict.rounds), std::string(to_string(verdict.verdict))}}});
}

void print_json(const Rounds& rounds, const Device& device, AbOptions& options, const KeptRounds* kept) {
  const RowVerdict& verdict = rounds.verdict;
  nlohmann::ordered_json document;
  document["device"] = {{"name", device.info().limits.name}, {"uuid", device.info().uuid}};
  document["provenance"] = to_string(is_simulated(rounds) ? Provenance::simulated : Provenance::measured);
  document["margin"] = options.margin_percent / 100;
  if (!is_simulated(rounds)) document["looks"] = analysis::rounds_to_look_at(options.rounds);
  document["base"] = side_json(rounds.points[0], rounds.row.base);
  document["other"] = side_json(rounds.points[1], rounds.row.other);
  const auto ratio_json = [](const RatioInterval& ratio) {
    return nlohmann::ordered_json{{"value", ratio.ratio}, {"low", ratio.interval.low}, {"high", ratio.interval.high}};
  };
  document["ratio"] = ratio_json(verdict.time);
  if (verdict.cycles) document["cycles_ratio"] = ratio_json(*verdict.cycles);
  document["rounds"] = verdict.rounds;
  document["verdict"] = to_string(verdict.verdict);
  document["undecided"] = to_string(verdict.undecided);
  if (verdict.rounds_needed) document["rounds_needed"] = *verdict.rounds_needed;
  document["out_of_time"] = rounds.out_of_time;
  if (kept != nullptr) {
    document["file"] = kept->file();
    document["run"] = kept->run();
  }
  options.result.object(std::move(document));
}

ExitCode ab_of_programs(AbOptions& options) {
  MeasureOptions measure = measure_options(options);
  measure.planted = options.plant.empty() ? PlantedChange() : planted_change(options.plant);
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
  if (options.sides[0].empty() || options.sides[1].empty()) throw CommandError(ExitCode::usage, say::ab::no_sides{});
  CancelToken& cancel = cancel_on_signals();
  const OpenedDevice opened = open_device(options.device, false);
  Device& device = *opened.device;
  const DeviceLimits& limits = device.info().limits;
  const std::array<PointSpec, 2> points{point_of_side(options, 0, limits), point_of_side(options, 1, limits)};
  if (points[0] == points[1]) throw CommandError(ExitCode::usage, say::ab::same_points{.point = describe(points[0])});
  std::optional<KeptRounds> file;
  if (!options.output.empty()) file.emplace(options, opened, points);
  KeptRounds* const kept = file ? &*file : nullptr;
  const Rounds rounds = take_turns(device, options, points, kept, cancel);
  if (kept != nullptr) kept->finish(rounds.cancelled ? StoredRunState::cancelled : StoredRunState::complete);
  if (rounds.row.base.ns.empty()) return ExitCode::partial;  // cancelled before there was anything
  if (options.result.is("json")) {
    print_json(rounds, device, options, kept);
  } else if (options.result.is("csv")) {
    print_csv(rounds, options.result);
  } else {
    print_for_people(rounds, opened, options, kept);
  }
  return rounds.cancelled ? ExitCode::partial : ExitCode::ok;
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
  command.add_option("--plant", options->plant)->group("")->needs(program);  // to try verdicts, see PlantedChange
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
