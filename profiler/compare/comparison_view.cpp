// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "messages/compare.h"
#include "profiler/compare/compared_values.h"
#include "profiler/compare/comparison_parts.h"
#include "profiler/plan/command_text.h"
#include "profiler/points/impossible_values.h"
#include "profiler/points/row_keys.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {

namespace {

/// True if both sides are computed.
bool has_no_spread(const ComparedPair& pair) {
  return pair.verdict.time.interval.low >= pair.verdict.time.interval.high && !pair.verdict.time.unknown;
}

/// Returns whether the spread between rounds was measured. Only then a number of rounds or recordings can be advised.
bool has_known_spread(const RowVerdict& row) {
  return row.floor != SpreadFloor::assumed_percent && row.floor != SpreadFloor::few_samples;
}

Message undecided_reason(Undecided undecided) {
  static const std::array<Message, 8> reasons{msg::compare::spread{},
                                              msg::compare::few_rounds{.fewest = min_rounds},
                                              msg::compare::separate_recordings{},
                                              msg::compare::spread{},
                                              msg::compare::clocks{},
                                              msg::compare::model_error{},
                                              msg::compare::noise{},
                                              msg::compare::not_validated{}};
  return reasons.at(static_cast<std::size_t>(undecided));
}

std::size_t samples_per_round(const PointTable& table, Row row) {
  const std::optional<RowKernel> sum = table.points().sum(row);
  const std::size_t rounds = table.points().rounds(row);
  return sum && sum->times() ? std::max<std::size_t>(1, sum->times()->count / rounds) : 1;
}

struct JudgedPair {
  const ComparedPair* pair = nullptr;
  const ComparisonResult* result = nullptr;
  std::uint64_t problem = 0;  ///< equal for equal problems and algorithms
};

/// Geometric mean over problems; the rows of one problem and candidate have its weight together.
RatioInterval mean_value(std::span<const JudgedPair> judged) {
  std::map<std::pair<const ComparisonResult*, std::uint64_t>, double> rows;
  for (const JudgedPair& each : judged) ++rows[{each.result, each.problem}];
  double sum = 0;
  bool assumed = false;
  bool unknown = false;
  std::map<const ComparisonResult*, double> squares;  // squared half-widths of paired points, by result
  double half = 0;                                    // sum of the other half-widths
  for (const auto& [pair, result, problem] : judged) {
    const RatioInterval& time = pair->verdict.time;
    const double weight = 1 / (static_cast<double>(rows.size()) * rows.at({result, problem}));
    const double width = weight * std::log(time.interval.high / time.interval.low) / 2;
    sum += weight * std::log(time.ratio);
    assumed = assumed || time.assumed;
    unknown = unknown || time.unknown;
    const bool independent = pair->paired && pair->verdict.floor == SpreadFloor::none;
    (independent ? squares[result] : half) += independent ? width * width : width;
  }
  for (const auto& [result, of_result] : squares) half += std::sqrt(of_result);
  return {.ratio = std::exp(sum),
          .interval = {.low = std::exp(sum - half), .high = std::exp(sum + half)},
          .assumed = assumed,
          .unknown = unknown};
}

ComparisonAnswer answer_of(const PointTable& table, std::span<const JudgedPair> judged) {
  ComparisonAnswer answer;
  answer.points = judged.size();
  answer.mean = mean_value(judged);
  std::vector<double> detectable;
  std::vector<std::size_t> recordings;
  std::vector<std::size_t> rounds;
  std::set<std::uint64_t> problems;
  for (const auto& [pair, result, problem] : judged) {
    problems.insert(problem);
    const RowVerdict& row = pair->verdict;
    answer.margin = std::max(answer.margin, result->margin);
    if ((row.rounds_needed || row.recordings_needed) && can_measure(table, *pair)) {
      const bool interleaved = can_interleave(table, *pair);
      if (interleaved && row.rounds_needed) rounds.push_back(*row.rounds_needed);
      if (!interleaved && row.recordings_needed) recordings.push_back(*row.recordings_needed);
    }
    ++answer.verdicts.at(static_cast<std::size_t>(row.verdict));
    if (row.detectable > 0) detectable.push_back(row.detectable);
    // Skip computed values, whose interval lacks the model's error, and changes within the margin, which the verdict
    // covers.
    if (has_no_spread(*pair) || row.certain_change <= result->margin) continue;
    if (row.verdict == Verdict::slower) answer.slower_by = std::max(answer.slower_by, row.certain_change);
    if (row.verdict == Verdict::faster) answer.faster_by = std::max(answer.faster_by, row.certain_change);
  }
  answer.problems = problems.size();
  answer.by_recordings = required_samples(std::move(recordings));
  answer.by_rounds = required_samples(std::move(rounds));
  if (!detectable.empty()) {
    answer.detectable_at_worst = std::ranges::max(detectable);
    answer.detectable = summarize(detectable)->median;
  }
  return answer;
}

std::vector<ComparisonAnswer> make_answers(const ComparisonView& view) {
  const PointTable& table = *view.points;
  const FieldColumn& algorithms = table.points().field("algorithm");
  const FieldColumn& passes = table.points().field("pass");
  std::vector<JudgedPair> all;
  std::vector<Row> rows;
  for (const auto& side : view.sides) {
    for (const ComparedPair& pair : side->result.pairs) {
      all.push_back({&pair, &side->result});
      rows.push_back(pair.other.front());
    }
  }
  std::vector<RowKey> keys;
  for (const std::string& field : fields_without_tile(table)) keys.push_back(key_of_field(table, field));
  const std::vector<std::uint64_t> problems = group_numbers(keys, rows);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<JudgedPair>> groups;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].problem = problems[i];
    groups[{algorithms.key(rows[i]), passes.key(rows[i])}].push_back(all[i]);
  }
  std::vector<ComparisonAnswer> answers;
  for (const auto& [key, pairs] : groups) {
    const Row row = pairs.front().pair->other.front();
    answers.push_back(answer_of(table, pairs));
    answers.back().algorithm = short_title(table.algorithms(), table.algorithm(row));
    answers.back().pass = table.problem(row).pass;
  }
  std::ranges::sort(answers, {}, [](const ComparisonAnswer& each) { return std::pair(each.algorithm, each.pass); });
  if (answers.size() > 1) answers.insert(answers.begin(), answer_of(table, all));
  return answers;
}

std::vector<Message> make_evidence(const ComparisonAnswer& answer) {
  const std::size_t open = answer.verdicts.at(static_cast<std::size_t>(Verdict::ambiguous));
  std::vector<Message> words;
  if (answer.detectable > 0) {
    words.emplace_back(msg::compare::min_detectable{.median = text(Share(answer.detectable)),
                                                    .worst = text(Share(answer.detectable_at_worst))});
  }
  if (const auto [times, rows] = answer.by_recordings; rows > 0) {
    words.emplace_back(msg::compare::decide_by_recordings{.open = open, .rows = rows, .times = times});
  }
  if (const auto [times, rows] = answer.by_rounds; rows > 0) {
    words.emplace_back(msg::compare::decide_by_rounds{.open = open, .rounds = times, .rows = rows});
  }
  return words;
}

/// Returns a note if one side chose the best of several tiles and the other had one. Empty if none did.
Message unequal_choice_note(const ComparisonView& view) {
  std::size_t rows = 0;
  std::size_t most = 0;
  for (const auto& side : view.sides) {
    for (const ComparedPair& pair : side->result.pairs) {
      const auto [least, largest] = std::minmax(pair.tiles[0], pair.tiles[1]);
      if (least != 1 || largest == 1) continue;
      ++rows;
      most = std::max(most, largest);
    }
  }
  return rows == 0 ? Message() : msg::compare::unequal_choice{.most = most, .rows = rows};
}

Message changed_kernels_note(const ComparisonView& view) {
  std::set<std::string> changed;
  for (const auto& side : view.sides)
    changed.insert(side->result.changed_kernels.begin(), side->result.changed_kernels.end());
  if (changed.empty()) return {};
  return msg::compare::changed_kernels{.algorithms = fmt::format("{}", fmt::join(changed, ", "))};
}

/// Returns one sentence per source of interval width.
std::vector<Message> spread_notes(const ComparisonView& view) {
  std::map<SpreadFloor, std::size_t> rows;
  std::size_t exact = 0;
  std::size_t paired = 0;         // among SpreadFloor::none
  std::size_t rows_by_tiles = 0;  // among SpreadFloor::model_error_floor
  std::size_t steadied = 0;
  std::size_t one_clock = 0;
  std::size_t shifted = 0;
  double max_clock_shift = 0;
  std::size_t on_both_sides = 0;
  std::set<std::string> error_gpus;
  for (const auto& side : view.sides) {
    on_both_sides += side->result.on_both_sides;
    error_gpus.insert(side->result.error_gpus.begin(), side->result.error_gpus.end());
    for (const ComparedPair& pair : side->result.pairs) {
      const RowVerdict& verdict = pair.verdict;
      steadied += verdict.steadied ? 1 : 0;
      one_clock += verdict.one_clock ? 1 : 0;
      if (verdict.clocks_differ) {
        ++shifted;
        max_clock_shift = std::max(max_clock_shift, std::abs(verdict.clock_shift));
      }
      if (has_no_spread(pair)) {
        ++exact;
        continue;
      }
      ++rows[verdict.floor];
      if (verdict.floor == SpreadFloor::none && pair.paired) ++paired;
      if (verdict.floor == SpreadFloor::model_error_floor && pair.computed) ++rows_by_tiles;
    }
  }
  const std::string gpus = fmt::format("{}", fmt::join(error_gpus, ", "));
  const std::size_t assumed_rows = rows[SpreadFloor::assumed_percent];
  const std::size_t few_samples = rows[SpreadFloor::few_samples];
  const std::size_t by_rounds = rows[SpreadFloor::of_rounds];
  const std::size_t model_rows = rows[SpreadFloor::model_error_floor] - rows_by_tiles;
  std::vector<Message> words;
  const auto add = [&](std::size_t count, Message sentence) {
    if (count > 0) words.push_back(std::move(sentence));
  };
  add(on_both_sides, msg::compare::on_both_sides{.rows = on_both_sides});
  add(assumed_rows, msg::compare::floor_percent{.fewest = min_rounds, .rows = assumed_rows});
  add(few_samples, msg::compare::floor_samples{.fewest = min_rounds, .rows = few_samples});
  add(rows[SpreadFloor::unknown], msg::compare::floor_unknown{.rows = rows[SpreadFloor::unknown]});
  add(by_rounds, msg::compare::floor_rounds{.rows = by_rounds});
  add(rows[SpreadFloor::calibrated], msg::compare::floor_calibrated{.rows = rows[SpreadFloor::calibrated]});
  add(model_rows, msg::compare::floor_model{.gpus = gpus, .rows = model_rows});
  add(rows_by_tiles, msg::compare::floor_tiles{.gpus = gpus, .rows = rows_by_tiles});
  add(rows[SpreadFloor::none] - paired, msg::compare::many_recordings{.rows = rows[SpreadFloor::none] - paired});
  add(paired, msg::compare::interleaved{.rows = paired});
  add(steadied, msg::compare::drift_removed{.rows = steadied});
  add(one_clock, msg::compare::clock_normalization{.rows = one_clock});
  add(shifted, msg::compare::clock_shift{.most = text(Share(std::expm1(max_clock_shift))), .rows = shifted});
  if (view.looks > 1) {
    add(rows[SpreadFloor::none] + by_rounds + assumed_rows + few_samples,
        msg::compare::interim_analyses{.looks = view.looks});
  }
  add(exact, msg::compare::computed{.rows = exact});
  return words;
}

ComparisonView with_summary(ComparisonView view) {
  for (const auto& side : view.sides) {
    view.left_out += static_cast<std::size_t>(std::ranges::count_if(side->result.left_out, &SkippedRows::is_listed));
    for (const ComparedPair& pair : side->result.pairs)
      ++view.counts.at(static_cast<std::size_t>(pair.verdict.verdict));
  }
  view.answers = make_answers(view);
  view.answer = head_of(view);
  view.tally = msg::compare::tally{.faster = view.count(Verdict::faster),
                                   .left = view.left_out,
                                   .same = view.count(Verdict::same),
                                   .slower = view.count(Verdict::slower),
                                   .undecided = view.count(Verdict::ambiguous)};
  view.differences = differences_of(view);
  if (!view.answers.empty()) {
    view.evidence = make_evidence(view.answers.front());
    if (Message note = unequal_choice_note(view); !note.empty()) view.evidence.push_back(std::move(note));
    if (Message note = changed_kernels_note(view); !note.empty()) view.evidence.push_back(std::move(note));
  }
  set_deciding_command(view);
  if (view.sides.size() == 1) {
    const std::string alignment = fmt::format("{}", fmt::join(view.sides.front()->alignment.keywords(), ", "));
    view.method.emplace_back(msg::compare::aligned{.alignment = alignment});
    const ComparedTiles tiles = view.sides.front()->alignment.tiles;
    if (tiles == ComparedTiles::best) view.method.emplace_back(msg::compare::tiles_best{});
    if (tiles == ComparedTiles::automatic) view.method.emplace_back(msg::compare::tiles_automatic{});
  }
  view.method.emplace_back(msg::compare::method{.level = fmt::format("{:g}", 100 * view.level),
                                                .margin = fmt::format("{:g}", 100 * view.margin),
                                                .rows = view.pairs()});
  view.spreads = spread_notes(view);
  return view;
}

}  // namespace

bool can_measure(const PointTable& table, const ComparedPair& pair) {
  return std::ranges::all_of(std::array{pair.base.front(), pair.other.front()}, [&](Row row) {
    return table.points().origin(row) == Provenance::measured &&
           table.algorithms().find(table.algorithm(row)) != nullptr;
  });
}

bool can_interleave(const PointTable& table, const ComparedPair& pair) {
  if (pair.paired) return true;
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  const FieldColumn& cache = table.points().field("cache");
  return !pair.same_point && table.run(base).device_id == table.run(other).device_id &&
         cache.key(base) == cache.key(other);
}

RequiredSamples required_samples(std::vector<std::size_t> needed) {
  if (needed.empty()) return {};
  std::ranges::sort(needed);
  const std::size_t times = needed[(needed.size() * 9 + 9) / 10 - 1];
  return {.times = times, .rows = static_cast<std::size_t>(std::ranges::upper_bound(needed, times) - needed.begin())};
}

std::optional<Row> ComparisonLine::point(bool of_other) const {
  if (pair != nullptr) return of_other ? pair->other.front() : pair->base.front();
  return left->of_other == of_other ? std::optional(left->rows[member]) : std::nullopt;
}

std::size_t ComparisonView::pairs() const {
  std::size_t all = 0;
  for (const std::size_t each : counts) all += each;
  return all;
}

ComparisonView ComparisonView::select_side(std::size_t side) const {
  return sides.size() == 1 ? *this : view_of(*points, {sides[side]}, looks);
}

std::vector<ComparisonLine> ComparisonView::lines(Lines which) const {
  std::vector<ComparisonLine> lines;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    for (const ComparedPair& pair : sides[side]->result.pairs) lines.push_back({.side = side, .pair = &pair});
  }
  for (std::size_t side = 0; which != Lines::pairs && side < sides.size(); ++side) {
    for (const SkippedRows& left : sides[side]->result.left_out) {
      const std::size_t members = which == Lines::each_row ? left.rows.size() : left.is_listed() ? 1 : 0;
      for (std::size_t member = 0; member < members; ++member) {
        lines.push_back({.side = side, .left = &left, .member = member});
      }
    }
  }
  return lines;
}

std::vector<ComparisonLine> ComparisonView::worst_first() const {
  std::vector<ComparisonLine> pairs = lines(Lines::pairs);
  std::ranges::stable_sort(pairs, {}, [](const ComparisonLine& line) { return verdict_order(line.pair->verdict); });
  return pairs;
}

bool has_match(const ComparisonResult& result) {
  return !result.pairs.empty() || std::ranges::any_of(result.left_out, [](const SkippedRows& left) {
    return left.why != SkippedRows::SkipReason::unmatched;
  });
}

ComparisonView view_of(const PointTable& table, const ViewRequest& asked) {
  const auto cancelled = [&] { return asked.cancelled && asked.cancelled(); };
  std::vector<std::pair<const SideRows*, AlignedComparison>> sides;
  ComparisonRequest request{.base = {},
                            .other = {},
                            .alignment = {},
                            .margin = asked.margin,
                            .looks = asked.looks,
                            .conditions = asked.conditions};
  for (const SideRows& side : asked.sides) {
    if (cancelled()) return {};
    request.base.assign(side.base.begin(), side.base.end());
    request.other.assign(side.other.begin(), side.other.end());
    request.alignment = side.alignment;
    sides.emplace_back(&side, align(table, request));
  }
  const auto is_matched = [](const auto& side) { return has_match(side.second.result); };
  if (asked.hide_unmatched && std::ranges::any_of(sides, is_matched))
    std::erase_if(sides, [&](const auto& side) { return !is_matched(side); });
  double margin = 0;
  for (const auto& [side, aligned] : sides) margin = std::max(margin, aligned.result.margin);
  std::vector<std::shared_ptr<const ComparedSide>> judged;
  for (auto& [side, aligned] : sides) {
    if (cancelled()) return {};
    judged.push_back(std::make_shared<const ComparedSide>(
        ComparedSide{.base = side->base_name,
                     .name = side->name,
                     .alignment = side->alignment,
                     .result = add_verdicts(std::move(aligned), asked.looks, margin)}));
  }
  return view_of(table, std::move(judged), asked.looks);
}

ComparisonView view_of(const PointTable& table, std::vector<std::shared_ptr<const ComparedSide>> sides,
                       std::size_t looks) {
  ComparisonView view{.points = &table, .sides = std::move(sides), .looks = looks};
  if (!view.sides.empty()) view.margin = view.sides.front()->result.margin;
  return with_summary(std::move(view));
}

Message verdict_title(Verdict verdict) {
  static const std::array<Message, 4> titles{msg::compare::faster{}, msg::compare::slower{}, msg::compare::same{},
                                             msg::compare::undecided{}};
  return titles.at(static_cast<std::size_t>(verdict));
}

std::string ratio_text(const RatioInterval& ratio, bool names_assumed) {
  if (ratio.unknown) return text(msg::compare::unknown_ratio{});
  // Three decimals, or three significant digits below 0.1; two and one decimals from 10 and 100 on.
  const double power = std::floor(std::log10(ratio.ratio));
  const int decimals = static_cast<int>(std::clamp(power < -1 ? 2 - power : 3 - std::max(power, 0.0), 1.0, 9.0));
  const auto number = [decimals](double value) { return fmt::format("{:.{}f}", value, decimals); };
  if (ratio.interval.low >= ratio.interval.high) return number(ratio.ratio);
  const std::string interval = fmt::format("{}, {}", number(ratio.interval.low), number(ratio.interval.high));
  return fmt::format("{} [{}]", number(ratio.ratio),
                     ratio.assumed && names_assumed ? text(msg::compare::assumed{.interval = interval}) : interval);
}

std::string suggested_command(const PointTable& table, const ComparedPair& pair, double margin) {
  const RowVerdict& verdict = pair.verdict;
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  if (verdict.undecided == Undecided::decided || !can_measure(table, pair)) return {};
  const bool spread_known = has_known_spread(verdict);
  if (can_interleave(table, pair) && (spread_known || !pair.same_point)) {
    if ((spread_known && !verdict.rounds_needed) || pair.same_point) return {};
    return interleaved_command(table.spec(base), table.spec(other),
                               {.rounds = verdict.rounds_needed.value_or(default_rounds),
                                .margin = margin,
                                .samples = std::max(samples_per_round(table, base), samples_per_round(table, other))});
  }
  if (spread_known && !verdict.recordings_needed) return {};
  const std::size_t rounds = std::max(default_rounds, verdict.rounds);
  if (pair.same_point) return rounds_command(table.spec(base), rounds);
  return rounds_command(table.spec(base), rounds, "baseline.attnscope") + "; " +
         rounds_command(table.spec(other), rounds, "candidate.attnscope");
}

Message undecided_note(const PointTable& table, const ComparedPair& pair, double margin) {
  const RowVerdict& verdict = pair.verdict;
  if (verdict.undecided == Undecided::decided) return {};
  const Message reason = undecided_reason(verdict.undecided);
  if (verdict.undecided == Undecided::clocks) return msg::compare::decide_with_locked_clocks{.reason = reason};
  if (verdict.undecided == Undecided::computed || verdict.undecided == Undecided::not_validated)
    return msg::compare::decide_by_measuring{.reason = reason};
  if (!can_measure(table, pair)) return msg::compare::decide_with_original_program{.reason = reason};
  if (pair.paired && pair.same_point && verdict.rounds_needed) {
    return msg::compare::decide_with_rounds{.reason = reason, .rounds = *verdict.rounds_needed};
  }
  const std::string command = suggested_command(table, pair, margin);
  if (!has_known_spread(verdict)) return msg::compare::decide_with_more_rounds{.command = command, .reason = reason};
  if (command.empty()) return msg::compare::at_margin{.reason = reason, .rounds = max_rounds};
  if (can_interleave(table, pair)) return msg::compare::decide_with_command{.command = command, .reason = reason};
  return msg::compare::decide_with_recordings{
      .command = command, .reason = reason, .times = *verdict.recordings_needed};
}

Message skip_reason(const PointTable& table, const SkippedRows& left) {
  if (left.why == SkippedRows::SkipReason::several) return msg::compare::not_unique{.points = left.rows.size()};
  if (left.why == SkippedRows::SkipReason::other_tiles) return msg::compare::no_automatic_tile{};
  if (left.why == SkippedRows::SkipReason::unmatched && left.alike) return msg::compare::same_measurement{};
  if (left.why == SkippedRows::SkipReason::unmatched)
    return left.of_other ? Message(msg::compare::not_in_baseline{}) : msg::compare::only_in_baseline{};
  const Row row = left.rows.front();
  if (left.why == SkippedRows::SkipReason::impossible)
    return describe(*impossible_value(table, row), table.run(row).limits);
  if (has_values(table.disposition(row))) return msg::compare::no_time{};
  return msg::compare::failed{.disposition = title(table.disposition(row)), .reason = table.reason(row)};
}

std::vector<StripGroup> strip_groups(const ComparisonView& view, std::span<const ComparisonLine> lines, bool by_d) {
  const PointTable& table = *view.points;
  std::map<std::tuple<std::size_t, std::size_t, std::string, std::int64_t>, StripGroup> groups;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    const ComparedPair* pair = lines[line].pair;
    if (pair == nullptr || pair->verdict.time.unknown) continue;
    const Row row = pair->other.front();
    const std::string& algorithm = table.algorithm(row);
    const std::int64_t d = by_d ? table.problem(row).d : 0;
    StripGroup& group = groups[{lines[line].side, table.algorithms().place(algorithm), algorithm, d}];
    group.lines.push_back(line);
    if (group.lines.size() > 1) continue;
    group.algorithm = algorithm;
    const std::string title = short_title(table.algorithms(), algorithm);
    group.label = by_d ? fmt::format("{} d {}", title, d) : title;
    const std::string& side = view.sides[lines[line].side]->name;
    if (view.sides.size() > 1 && side != title) group.label += " · " + side;
  }
  std::vector<StripGroup> all;
  all.reserve(groups.size());
  for (auto& [key, group] : groups) all.push_back(std::move(group));
  return all;
}

std::vector<int> strip_lanes(const std::vector<double>& x, double spacing) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return x[i]; });
  std::array<double, strip_lane_count> ends{};
  std::vector<int> lanes(x.size());
  if (x.empty()) return lanes;
  ends.fill(x[order.front()] - spacing);
  for (const std::size_t i : order) {
    const auto* const free = std::ranges::find_if(ends, [&](double end) { return x[i] - end >= spacing; });
    const auto lane = static_cast<std::size_t>(free == ends.end() ? 0 : free - ends.begin());
    ends.at(lane) = x[i];
    const auto step = static_cast<int>((lane + 1) / 2);
    lanes[i] = lane % 2 == 1 ? -step : step;
  }
  return lanes;
}

}  // namespace attnscope::analysis
