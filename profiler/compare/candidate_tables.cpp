// SPDX-License-Identifier: Apache-2.0
// Tables of several candidates: one row per point of the baseline, one column per candidate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "messages/compare.h"
#include "profiler/compare/compared_settings.h"
#include "profiler/compare/comparison_columns.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

/// A point of the baseline and its pair of each candidate; null if the candidate has none.
struct CandidateRow {
  Row base = 0;
  std::vector<const ComparedPair*> pairs;

  [[nodiscard]] const ComparedPair& first() const {
    return **std::ranges::find_if(pairs, [](const ComparedPair* pair) { return pair != nullptr; });
  }
  /// Returns the order of the worst verdict.
  [[nodiscard]] double order() const {
    double least = std::numeric_limits<double>::infinity();
    for (const ComparedPair* pair : pairs) {
      if (pair != nullptr) least = std::min(least, verdict_order(pair->verdict));
    }
    return least;
  }
};

std::vector<CandidateRow> candidate_rows(const ComparisonView& view) {
  std::map<Row, CandidateRow> rows;
  for (std::size_t side = 0; side < view.sides.size(); ++side) {
    for (const ComparedPair& pair : view.sides[side]->result.pairs) {
      CandidateRow& row = rows[pair.base.front()];
      row.base = pair.base.front();
      row.pairs.resize(view.sides.size());
      row.pairs[side] = &pair;
    }
  }
  std::vector<CandidateRow> sorted;
  sorted.reserve(rows.size());
  for (auto& [base, row] : rows) sorted.push_back(std::move(row));
  std::ranges::stable_sort(sorted, {}, &CandidateRow::order);
  return sorted;
}

/// Returns "1.031 [1.026, 1.036] SLOWER". `assumed`: said for all cells.
std::string ratio_and_verdict(const ComparedPair& pair, bool assumed) {
  RatioInterval time = pair.verdict.time;
  time.assumed = time.assumed && !assumed;
  return fmt::format("{} {}", ratio_text(time), text(verdict_title(pair.verdict.verdict)));
}

Tone tone_of_verdict(const ComparedPair* pair) {
  if (pair == nullptr || pair->verdict.verdict == Verdict::same) return Tone::plain;
  if (pair->verdict.verdict == Verdict::ambiguous) return Tone::muted;
  return pair->verdict.verdict == Verdict::faster ? Tone::better : Tone::worse;
}

template <class Holds>
bool hold_for_all(const std::vector<CandidateRow>& rows, Holds holds) {
  return std::ranges::all_of(rows, [&](const CandidateRow& row) {
    return std::ranges::all_of(row.pairs, [&](const ComparedPair* pair) { return pair == nullptr || holds(*pair); });
  });
}

}  // namespace

FactoredTable candidates_table(const ComparisonView& view) {
  const PointTable& points = *view.points;
  TableBuilder<CandidateRow> table(candidate_rows(view));
  const std::vector<CandidateRow>& rows = table.lines();
  std::vector<Row> bases;
  bases.reserve(rows.size());
  for (const CandidateRow& row : rows) bases.push_back(row.base);
  const SplitSettings settings = split_settings(points, bases);
  std::vector<std::string> common;
  if (!settings.common.empty()) common.push_back(settings.common);
  for (const Field& setting : settings.varying) {
    const bool number = setting_number(points, setting, bases.front()) && setting.name != tile_setting;
    table.add({.key = std::string(setting.heading.empty() ? setting.name : setting.heading),
               .title = text(setting.label()),
               .kind = number ? ColumnKind::number : ColumnKind::text},
              [&points, setting](const CandidateRow& row) {
                return Cell{.text = setting_text(points, setting, row.base),
                            .number = setting_number(points, setting, row.base)};
              });
  }
  table.add({.key = "baseline_ns",
             .title = view.sides.empty() ? text(msg::compare::base_time{}) : view.sides.front()->base,
             .kind = ColumnKind::number},
            [](const CandidateRow& row) {
              return Cell{.text = precise_text(row.first().base_ns), .number = row.first().base_ns, .row = row.base};
            });
  const bool assumed = hold_for_all(rows, [](const ComparedPair& pair) { return pair.verdict.time.assumed; });
  if (assumed) common.push_back(text(msg::compare::assumed_intervals{}));
  if (hold_for_all(rows, [](const ComparedPair& pair) { return pair.verdict.one_clock; }))
    common.push_back(text(msg::compare::normalized_ratios{}));
  for (std::size_t side = 0; side < view.sides.size(); ++side) {
    Column column{
        .key = fmt::format("ratio_{}", side + 1), .title = view.sides[side]->name, .kind = ColumnKind::number};
    column.tone = table.of([side](const CandidateRow& row) { return tone_of_verdict(row.pairs[side]); });
    table.add(std::move(column), [side, assumed](const CandidateRow& row) {
      const ComparedPair* pair = row.pairs[side];
      if (pair == nullptr) return Cell{.text = "–"};
      return Cell{.text = ratio_and_verdict(*pair, assumed), .number = pair->verdict.time.ratio};
    });
  }
  FactoredTable factored{std::move(table).take()};
  if (!common.empty()) factored.common = msg::compare::all_rows{.settings = fmt::format("{}", fmt::join(common, "; "))};
  return factored;
}

Table candidates_data(const ComparisonView& view) {
  const PointTable& points = *view.points;
  using Number = std::optional<double>;
  TableBuilder<CandidateRow> table(candidate_rows(view));
  table.add({.key = "baseline_point"}, [&points](const CandidateRow& row) { return describe(points.spec(row.base)); });
  table.add({.key = "baseline_ns"}, [](const CandidateRow& row) { return row.first().base_ns; });
  for (std::size_t side = 0; side < view.sides.size(); ++side) {
    const auto number = [&](const char* key, auto value) {
      table.add({.key = fmt::format("{}_{}", key, side + 1)}, [side, value](const CandidateRow& row) {
        const ComparedPair* pair = row.pairs[side];
        return pair == nullptr || pair->verdict.time.unknown ? Number() : Number(value(pair->verdict.time));
      });
    };
    number("ratio", [](const RatioInterval& time) { return time.ratio; });
    number("ratio_low", [](const RatioInterval& time) { return time.interval.low; });
    number("ratio_high", [](const RatioInterval& time) { return time.interval.high; });
    table.add({.key = fmt::format("verdict_{}", side + 1)}, [side](const CandidateRow& row) {
      const ComparedPair* pair = row.pairs[side];
      return pair == nullptr ? std::string_view() : to_string(pair->verdict.verdict);
    });
  }
  return std::move(table).take();
}

}  // namespace attnscope::analysis
