// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/comparison_words.h"

#include <fmt/format.h>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "profiler/analysis/compared_values.h"
#include "profiler/plan/command.h"

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
    case Undecided::clocks:
      return say::compare::clocks{};
    case Undecided::spread:
    case Undecided::decided:
      break;
  }
  return say::compare::spread{};
}

std::string settling_command(const PointTable& table, const ComparedPair& pair) {
  const RowVerdict& verdict = pair.verdict;
  if (verdict.undecided == Undecided::decided || verdict.undecided == Undecided::clocks) return {};
  if (!verdict.rounds_needed) return {};
  return rounds_command(table.spec(pair.base.front()), table.spec(pair.other.front()), *verdict.rounds_needed);
}

Message settling_words(const PointTable& table, const ComparedPair& pair) {
  const RowVerdict& verdict = pair.verdict;
  if (verdict.undecided == Undecided::decided) return {};
  const Message reason = undecided_words(verdict.undecided);
  if (verdict.undecided == Undecided::clocks) return say::compare::settle_clocks{.reason = reason};
  const std::string command = settling_command(table, pair);
  if (command.empty()) return say::compare_page::at_margin{.reason = reason, .rounds = most_rounds};
  const bool one_device = table.run(pair.base.front()).device_name == table.run(pair.other.front()).device_name;
  if (one_device && !pair.same_point) return say::compare_page::settle_together{.reason = reason, .command = command};
  return say::compare::settle_repeat{.reason = reason, .command = command};
}

Message failure_words(const PointTable& table, const LeftOut& left) {
  if (left.why != LeftOut::Why::failed && left.why != LeftOut::Why::both_failed) return {};
  const Row row = left.rows.front();
  if (has_values(table.disposition(row))) return say::compare::no_time{};
  return say::compare::failed{.disposition = attnscope::to_string(table.disposition(row)), .reason = table.reason(row)};
}

std::vector<Message> floor_words(const std::vector<const ComparisonResult*>& results, const VerdictOptions& options,
                                 std::size_t looks) {
  std::size_t exact = 0;
  std::size_t paired = 0;
  std::size_t often = 0;
  std::size_t by_rounds = 0;
  std::size_t by_percent = 0;
  std::size_t steadied = 0;
  std::size_t on_both_sides = 0;
  for (const ComparisonResult* result : results) {
    on_both_sides += result->on_both_sides;
    for (const ComparedPair& pair : result->pairs) {
      if (pair.verdict.steadied) ++steadied;
      if (is_computed(pair)) {
        ++exact;
      } else if (pair.verdict.floor == SpreadFloor::of_rounds) {
        ++by_rounds;
      } else if (pair.verdict.floor == SpreadFloor::of_percent) {
        ++by_percent;
      } else {
        ++(pair.paired ? paired : often);
      }
    }
  }
  std::vector<Message> words;
  if (on_both_sides > 0) words.emplace_back(say::compare::on_both_sides{.rows = on_both_sides});
  if (by_percent > 0) words.emplace_back(say::compare::floor_percent{.fewest = fewest_rounds, .rows = by_percent});
  if (by_rounds > 0) words.emplace_back(say::compare::floor_rounds{.rows = by_rounds});
  if (by_rounds + by_percent > 0 && options.margin < least_margin_apart) {
    words.emplace_back(say::compare::least_margin{.percent = fmt::format("{}", 100 * least_margin_apart)});
  }
  if (often > 0) words.emplace_back(say::compare::many_recordings{.rows = often});
  if (paired > 0) words.emplace_back(say::compare::interleaved{.rows = paired});
  if (steadied > 0) words.emplace_back(say::compare::steadied{.rows = steadied});
  if (looks > 1 && paired + often + by_rounds + by_percent > 0)
    words.emplace_back(say::compare::looked{.looks = looks});
  if (exact > 0) words.emplace_back(say::compare::computed{.rows = exact});
  return words;
}

}  // namespace attnscope::analysis
