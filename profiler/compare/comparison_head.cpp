// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/comparison_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "messages/compare.h"
#include "messages/difference.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/presets.h"
#include "profiler/points/facets.h"
#include "profiler/points/row_keys.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// Returns "2.6 to 3.4%", or "a factor of 2.1 to 62" if the largest change exceeds 2. Pre: ratios on one side of 1.
Message change_range(double nearest, double farthest) {
  const auto range = [](const std::string& low, const std::string& high, bool percent) -> Message {
    if (low == high) {
      if (percent) return msg::compare::percent{.value = low};
      return msg::compare::factor{.value = low};
    }
    if (percent) return msg::compare::percent_range{.high = high, .low = low};
    return msg::compare::factor_range{.high = high, .low = low};
  };
  const auto factor = [](double ratio) { return std::max(ratio, 1 / ratio); };
  constexpr double most_percent = 2 + 1e-9;  // rounding
  if (factor(farthest) > most_percent) return range(number_text(factor(nearest)), number_text(factor(farthest)), false);
  const auto percent = [](double ratio) {
    const double change = 100 * std::abs(ratio - 1);
    return fmt::format("{:g}", change < 10 ? std::round(10 * change) / 10 : std::round(change));
  };
  return range(percent(nearest), percent(farthest), true);
}

/// A condition on one setting, and the pairs that meet it.
struct GroupCondition {
  std::string text;
  std::vector<bool> met;
};

/// Finds a condition on a setting that all pairs of a group meet and some other pair does not; without text if there is
/// none. `rows`, `in_group`: by pair.
GroupCondition find_condition(const PointTable& table, const Field& setting, const std::vector<Row>& rows,
                              const std::vector<bool>& in_group) {
  constexpr std::size_t max_listed = 2;
  const auto condition = [&](std::string words, const auto& meets) {
    GroupCondition found{.text = std::move(words), .met = std::vector<bool>(rows.size())};
    for (std::size_t i = 0; i < rows.size(); ++i) found.met[i] = meets(i);
    return std::ranges::count(found.met, false) == 0 ? GroupCondition() : found;
  };
  const std::vector<std::uint64_t> keys = group_numbers(keys_of_setting(table, setting), rows);
  std::map<std::uint64_t, Row> inside;  // an example of each value in the group
  std::vector<double> numbers;
  std::vector<double> in_range;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Groups of fields other than N, such as batch x heads, have no order that a reader knows.
    const bool is_length = setting.name == "n" && table.n_q(rows[i]) == table.n_k(rows[i]);
    const auto number = setting.parts.empty() || is_length ? setting_number(table, setting, rows[i]) : std::nullopt;
    if (number) numbers.push_back(*number);
    if (number && in_group[i]) in_range.push_back(*number);
    if (in_group[i]) inside.try_emplace(keys[i], rows[i]);
  }
  if (inside.size() > 1 && numbers.size() == rows.size()) {
    const auto [low, high] = std::ranges::minmax(in_range);
    const auto [least, most] = std::ranges::minmax(numbers);
    const std::string label = text(setting.label());
    const std::string words =
        low == least   ? fmt::format("{} ≤ {}", label, exact_text(high))
        : high == most ? fmt::format("{} ≥ {}", label, exact_text(low))
                       : text(msg::compare::between{.high = exact_text(high), .label = label, .low = exact_text(low)});
    const auto is_between = [&, low = low, high = high](std::size_t i) {
      return numbers[i] >= low && numbers[i] <= high;
    };
    if (GroupCondition found = condition(words, is_between); !found.text.empty()) return found;
  }
  if (inside.size() > max_listed) return {};
  std::set<std::string> values;
  for (const auto& [key, row] : inside) values.insert(titled_setting(setting, setting_text(table, setting, row)));
  return condition(values.size() == 1
                       ? *values.begin()
                       : text(msg::compare::either{.first = *values.begin(), .second = *values.rbegin()}),
                   [&](std::size_t i) { return inside.contains(keys[i]); });
}

bool meet_exactly(const std::vector<GroupCondition>& conditions, const std::vector<bool>& in_group) {
  for (std::size_t i = 0; i < in_group.size(); ++i) {
    const bool met = std::ranges::all_of(conditions, [i](const GroupCondition& each) { return each.met[i]; });
    if (met != in_group[i]) return false;
  }
  return true;
}

/// Returns " (fa2, d 128, N ≥ 2048)" if conditions on the settings hold for exactly the pairs of a verdict, else "".
std::string where_text(const ComparisonView& view, Verdict verdict) {
  constexpr std::size_t max_conditions = 3;
  if (view.sides.size() != 1) return {};
  const PointTable& table = *view.points;
  const std::vector<ComparisonLine> lines = view.lines(ComparisonView::Lines::pairs);
  std::vector<bool> in_group;
  std::vector<Row> rows;
  for (const ComparisonLine& line : lines) {
    in_group.push_back(line.pair->verdict.verdict == verdict);
    rows.push_back(line.pair->other.front());
  }
  std::vector<Field> settings = split_settings(table, lines).varying;
  std::stable_partition(settings.begin(), settings.end(), [](const Field& setting) { return setting.name != "n"; });
  std::vector<GroupCondition> conditions;
  for (const Field& setting : settings) {
    const std::vector<RowKey> keys = keys_of_setting(table, setting);
    const bool differs = std::ranges::any_of(lines, [&](const ComparisonLine& line) {
      return std::ranges::any_of(
          keys, [&](const RowKey& key) { return key(line.pair->base.front()) != key(line.pair->other.front()); });
    });
    if (differs) continue;
    GroupCondition found = find_condition(table, setting, rows, in_group);
    if (!found.text.empty()) conditions.push_back(std::move(found));
  }
  if (conditions.empty() || !meet_exactly(conditions, in_group)) return {};
  for (std::size_t k = conditions.size(); k-- > 0;) {
    std::vector<GroupCondition> fewer = conditions;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    if (meet_exactly(fewer, in_group)) conditions = std::move(fewer);
  }
  if (conditions.size() > max_conditions) return {};
  std::vector<std::string> words;
  words.reserve(conditions.size());
  for (const GroupCondition& each : conditions) words.push_back(each.text);
  return fmt::format(" ({})", fmt::join(words, ", "));
}

Message changes_of(const ComparisonView& view, Verdict verdict) {
  double nearest = 0;
  double farthest = 0;
  for (const ComparisonLine& line : view.lines(ComparisonView::Lines::pairs)) {
    if (line.pair->verdict.verdict != verdict) continue;
    const double change = std::log(line.pair->verdict.time.ratio);
    if (nearest == 0 || std::abs(change) < std::abs(nearest)) nearest = change;
    if (std::abs(change) > std::abs(farthest)) farthest = change;
  }
  return change_range(std::exp(nearest), std::exp(farthest));
}

/// Returns "5 of 77 configurations are SLOWER, by 2.6 to 3.4%, and 3 FASTER, by 2%".
Message changed_rows(const ComparisonView& view) {
  Message words;
  for (const Verdict verdict : {Verdict::slower, Verdict::faster}) {
    const std::size_t count = view.count(verdict);
    if (count == 0) continue;
    const Message change = changes_of(view, verdict);
    const std::string where = count < view.pairs() ? where_text(view, verdict) : std::string();
    if (!words.empty()) {
      words = msg::compare::changed_too{
          .change = change, .changes = words, .count = count, .verdict = verdict_title(verdict), .where = where};
    } else if (count == 1) {
      words = msg::compare::changed_one{
          .all = view.pairs(), .change = change, .verdict = verdict_title(verdict), .where = where};
    } else {
      words = msg::compare::changed{
          .all = view.pairs(), .change = change, .count = count, .verdict = verdict_title(verdict), .where = where};
    }
  }
  return words;
}

/// Returns "56 SAME, 12 UNDECIDED"; with `all`, the first as "56 of 77 SAME".
std::string unchanged_rows(const ComparisonView& view, bool all) {
  std::vector<std::string> words;
  for (const Verdict verdict : {Verdict::same, Verdict::ambiguous}) {
    const std::size_t count = view.count(verdict);
    if (count == 0) continue;
    const Message title = verdict_title(verdict);
    words.push_back(words.empty() && all
                        ? text(msg::compare::count_of{.all = view.pairs(), .count = count, .verdict = title})
                        : text(msg::compare::count{.count = count, .verdict = title}));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Names of one difference on all sides.
struct FoundDifference {
  Message name;
  std::string base;
  std::vector<std::string> others;
  std::size_t rows = 0;
  std::vector<std::string> values = {};  ///< values of the candidates with this difference
};

std::vector<FoundDifference> find_differences(const ComparisonView& view) {
  std::vector<FoundDifference> found;
  for (const auto& side : view.sides) {
    for (const Difference& each : side->result.differences) {
      if (each.base == each.other && !each.base.empty()) continue;  // equally many throttled points
      // A setting in which all rows differ alike is named with what they have in common.
      const bool of_all = each.rows == view.pairs() && each.base.size() == 1 && each.other.size() == 1;
      if (of_all && std::ranges::find(other_differences, each.key) == other_differences.end()) continue;
      auto known = std::ranges::find(found, each.name, &FoundDifference::name);
      if (known == found.end())
        known = found.insert(found.end(), {.name = each.name, .base = display_text(each.base), .others = {}});
      known->rows += each.rows;
      const std::string value = display_text(each.other);
      known->values.push_back(value);
      const std::string words =
          view.sides.size() > 1 ? text(msg::compare::of_side{.side = side->name, .value = value}) : value;
      if (!value.empty() && std::ranges::find(known->others, words) == known->others.end())
        known->others.push_back(words);
    }
  }
  for (FoundDifference& each : found) {
    if (each.values.size() < view.sides.size() || each.values.front().empty()) continue;
    const auto equal = [&](const std::string& value) { return value == each.values.front(); };
    if (std::ranges::all_of(each.values, equal)) each.others = {each.values.front()};
  }
  return found;
}

}  // namespace

Message head_of(const ComparisonView& view) {
  if (view.sides.empty()) return {};
  const ComparedSide& first = *view.sides.front();
  const std::string other =
      view.sides.size() == 1 ? first.name : text(msg::compare::all_candidates{.sides = view.sides.size()});
  if (view.answers.empty()) return msg::compare::head_none{.base = first.base, .left = view.left_out, .other = other};
  const Message changed = changed_rows(view);
  const std::string unchanged = unchanged_rows(view, changed.empty());
  Message verdicts = changed;
  if (changed.empty()) verdicts = msg::compare::head_unchanged{.counts = unchanged};
  if (!changed.empty() && !unchanged.empty())
    verdicts = msg::compare::head_changed{.changes = changed, .counts = unchanged};
  return msg::compare::head{
      .base = first.base, .mean = ratio_text(view.answers.front().mean), .other = other, .verdicts = verdicts};
}

Message differences_of(const ComparisonView& view) {
  std::vector<std::string> words;
  for (const auto& [name, base, others, rows, values] : find_differences(view)) {
    const auto or_none = [](const std::string& value) { return value.empty() ? text(msg::compare::none{}) : value; };
    const std::string other = fmt::format("{}", fmt::join(others, ", "));
    const std::string label = lower_label(text(name));
    const std::string change =
        text(msg::difference::change{.base = or_none(base), .name = label, .other = or_none(other)});
    const bool listed = rows == 0 || !others.empty();
    const std::string what = listed ? change : label;
    const bool some = rows > 0 && rows < view.pairs();
    words.push_back(some ? text(msg::compare::in_rows{.rows = rows, .what = what}) : what);
  }
  if (words.empty()) return {};
  return msg::compare::also_differs{.differences = fmt::format("{}", fmt::join(words, "; "))};
}

void set_deciding_command(ComparisonView& view) {
  if (view.answers.empty()) return;
  const PointTable& table = *view.points;
  bool separate = false;
  std::vector<const ComparedPair*> open;
  std::vector<std::size_t> rounds{default_rounds};
  std::set<std::string> presets;
  std::vector<PointSpec> points;
  for (const ComparisonLine& line : view.lines(ComparisonView::Lines::pairs)) {
    const ComparedPair& pair = *line.pair;
    if (suggested_command(table, pair, view.margin).empty()) continue;
    open.push_back(&pair);
    separate = separate || !can_interleave(table, pair);
    if (pair.verdict.rounds_needed) rounds.push_back(*pair.verdict.rounds_needed);
    for (const Row row : {pair.base.front(), pair.other.front()}) {
      presets.insert(table.run(row).preset);
      if (std::ranges::find(points, table.spec(row)) == points.end()) points.push_back(table.spec(row));
    }
  }
  if (open.empty()) return;
  const std::size_t enough = required_samples(std::move(rounds)).times;
  if (open.size() == 1) {
    view.command = suggested_command(table, *open.front(), view.margin);
  } else if (std::ranges::none_of(presets, [](const auto& preset) { return find_preset(preset) == nullptr; })) {
    view.command = preset_command({presets.begin(), presets.end()}, enough);
  } else {
    view.command = sweep_command(points, enough);
  }
  if (view.command.empty()) return;
  const std::size_t times = view.answers.front().by_recordings.times;
  view.decide = msg::compare::to_decide{.command = view.command};
  if (separate) view.decide = msg::compare::to_decide_each_side{.command = view.command};
  if (separate && times > 1)
    view.decide = msg::compare::to_decide_by_recordings{.command = view.command, .times = times};
}

}  // namespace attnscope::analysis
