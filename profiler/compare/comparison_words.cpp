// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "messages/compare.h"
#include "profiler/compare/compared_values.h"
#include "profiler/plan/command_text.h"
#include "profiler/units/spelling.h"

namespace attnscope::analysis {

bool is_computed(const ComparedPair& pair) {
  return pair.verdict.time.interval.low >= pair.verdict.time.interval.high;
}

Message undecided_words(Undecided undecided) {
  switch (undecided) {
    case Undecided::few_rounds:
      return say::compare::few_rounds{.fewest = fewest_rounds};
    case Undecided::apart:
      return say::compare::apart{};
    case Undecided::noise:
      return say::compare::noise{};
    case Undecided::clocks:
      return say::compare::clocks{};
    case Undecided::computed:
      return say::compare::model_error{};
    case Undecided::spread:
    case Undecided::decided:
      break;
  }
  return say::compare::spread{};
}

bool is_ours(const PointTable& table, const ComparedPair& pair) {
  const auto ours = [&](Row row) {
    return table.points().origin(row) == Provenance::measured &&
           table.algorithms().find(table.algorithm(row)) != nullptr;
  };
  return ours(pair.base.front()) && ours(pair.other.front());
}

bool in_turns(const PointTable& table, const ComparedPair& pair) {
  if (pair.paired) return true;
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  return !pair.same_point && table.run(base).device_name == table.run(other).device_name &&
         table.points().field("cache").key(base) == table.points().field("cache").key(other);
}

namespace {

/// Of what failed, or has no time.
Message failure_words(const PointTable& table, const LeftOut& left) {
  const Row row = left.rows.front();
  if (has_values(table.disposition(row))) return say::compare::no_time{};
  return say::compare::failed{.disposition = title(table.disposition(row)), .reason = table.reason(row)};
}

/// Of a point in one round, as it was measured.
std::size_t samples_of_a_round(const PointTable& table, Row row) {
  const std::optional<KernelOfRow> sum = table.points().sum(row);
  const std::size_t rounds = std::max<std::size_t>(1, table.points().round_times(row).size());
  return sum && sum->times() ? std::max<std::size_t>(1, sum->times()->count / rounds) : 1;
}

}  // namespace

std::string settling_command(const PointTable& table, const ComparedPair& pair, double margin) {
  const RowVerdict& verdict = pair.verdict;
  const Row base = pair.base.front();
  const Row other = pair.other.front();
  if (verdict.undecided == Undecided::decided || !is_ours(table, pair)) return {};
  if (in_turns(table, pair)) {
    if (!verdict.rounds_needed || pair.same_point) return {};
    return turns_command(table.spec(base), table.spec(other),
                         {.rounds = *verdict.rounds_needed,
                          .margin = margin,
                          .samples = std::max(samples_of_a_round(table, base), samples_of_a_round(table, other))});
  }
  if (!verdict.recordings_needed) return {};
  return rounds_command(table.spec(base), std::max(usual_rounds, verdict.rounds));
}

Message settling_words(const PointTable& table, const ComparedPair& pair, double margin) {
  const RowVerdict& verdict = pair.verdict;
  if (verdict.undecided == Undecided::decided) return {};
  const Message reason = undecided_words(verdict.undecided);
  if (verdict.undecided == Undecided::clocks) return say::compare::settle_clocks{.reason = reason};
  if (verdict.undecided == Undecided::computed) return say::compare::settle_measure{.reason = reason};
  if (!is_ours(table, pair)) {
    return say::compare::settle_elsewhere{.reason = reason};
  }
  if (pair.paired && pair.same_point && verdict.rounds_needed) {
    return say::compare::settle_rounds{.reason = reason, .rounds = *verdict.rounds_needed};
  }
  const std::string command = settling_command(table, pair, margin);
  if (command.empty()) return say::compare::at_margin{.reason = reason, .rounds = most_rounds};
  if (in_turns(table, pair)) return say::compare::settle_by{.reason = reason, .command = command};
  return say::compare::settle_repeat{.reason = reason, .times = *verdict.recordings_needed, .command = command};
}

Message left_out_words(const PointTable& table, const LeftOut& left) {
  if (left.why == LeftOut::Why::several) return say::compare::several{.points = left.rows.size()};
  if (left.why != LeftOut::Why::no_partner) return failure_words(table, left);
  if (left.shared) return say::compare::shared{};
  return left.of_other ? Message(say::compare::not_in_baseline{}) : say::compare::only_in_baseline{};
}

Message verdict_title(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return say::compare::faster{};
    case Verdict::slower:
      return say::compare::slower{};
    case Verdict::same:
      return say::compare::same{};
    case Verdict::ambiguous:
      break;
  }
  return say::compare::undecided{};
}

std::string ratio_text(const RatioInterval& ratio) {
  if (ratio.interval.low >= ratio.interval.high) return fmt::format("{:.4f}", ratio.ratio);
  const std::string interval = fmt::format("{:.4f}, {:.4f}", ratio.interval.low, ratio.interval.high);
  return fmt::format("{:.4f} [{}]", ratio.ratio,
                     ratio.assumed ? text(say::compare::assumed{.interval = interval}) : interval);
}

std::vector<Message> floor_words(const std::vector<const ComparisonResult*>& results, std::size_t looks) {
  std::map<SpreadFloor, std::size_t> rows;
  std::size_t exact = 0;
  std::size_t paired = 0;    // of those without a floor
  std::size_t by_tiles = 0;  // of those of a model
  std::size_t steadied = 0;
  std::size_t one_clock = 0;
  std::size_t shifted = 0;
  double most_shifted = 0;
  std::size_t on_both_sides = 0;
  std::set<std::string> judges;
  for (const ComparisonResult* result : results) {
    on_both_sides += result->on_both_sides;
    judges.insert(result->judges.begin(), result->judges.end());
    for (const ComparedPair& pair : result->pairs) {
      const RowVerdict& verdict = pair.verdict;
      if (verdict.steadied) ++steadied;
      if (verdict.one_clock) ++one_clock;
      if (verdict.clocks_differ) {
        ++shifted;
        most_shifted = std::max(most_shifted, std::abs(verdict.clock_shift));
      }
      if (is_computed(pair)) {
        ++exact;
        continue;
      }
      ++rows[verdict.floor];
      if (verdict.floor == SpreadFloor::none && pair.paired) ++paired;
      if (verdict.floor == SpreadFloor::of_model && pair.computed) ++by_tiles;
    }
  }
  const std::string gpus = fmt::format("{}", fmt::join(judges, ", "));
  const std::size_t by_rounds = rows[SpreadFloor::of_rounds];
  const std::size_t by_percent = rows[SpreadFloor::of_percent];
  const std::size_t calibrated = rows[SpreadFloor::calibrated];
  const std::size_t by_model = rows[SpreadFloor::of_model] - by_tiles;
  const std::size_t often = rows[SpreadFloor::none] - paired;
  std::vector<Message> words;
  const auto add = [&](std::size_t count, Message said) {
    if (count > 0) words.push_back(std::move(said));
  };
  add(on_both_sides, say::compare::on_both_sides{.rows = on_both_sides});
  add(by_percent, say::compare::floor_percent{.fewest = fewest_rounds, .rows = by_percent});
  add(by_rounds, say::compare::floor_rounds{.rows = by_rounds});
  add(calibrated, say::compare::floor_calibrated{.rows = calibrated});
  add(by_model, say::compare::floor_model{.rows = by_model, .gpus = gpus});
  add(by_tiles, say::compare::floor_tiles{.rows = by_tiles, .gpus = gpus});
  add(often, say::compare::many_recordings{.rows = often});
  add(paired, say::compare::interleaved{.rows = paired});
  add(steadied, say::compare::steadied{.rows = steadied});
  add(one_clock, say::compare::one_clock{.rows = one_clock});
  add(shifted, say::compare::clock_shift{.rows = shifted, .most = text(Share(std::expm1(most_shifted)))});
  if (looks > 1) add(rows[SpreadFloor::none] + by_rounds + by_percent, say::compare::looked{.looks = looks});
  add(exact, say::compare::computed{.rows = exact});
  return words;
}

}  // namespace attnscope::analysis
