// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "messages/compare.h"
#include "storage/compared_runs.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::ComparedSide;
using analysis::Verdict;
using SidePtr = std::shared_ptr<const ComparedSide>;

constexpr int width_sample_rows = 2000;  ///< Rows used to estimate column widths.

constexpr auto not_compared_key = "not_compared";

QString verdict_key(const ComparedPair* pair) {
  return pair == nullptr ? QString::fromLatin1(not_compared_key)
                         : to_qstring(analysis::to_string(pair->verdict.verdict)).toLower();
}

}  // namespace

Provenance provenance_of(const analysis::PointTable& table, const ComparedPair& pair) {
  for (const Row row : {pair.other.front(), pair.base.front()}) {
    const Provenance origin = table.points().origin(row);
    if (origin != Provenance::measured) return origin;
  }
  return Provenance::derived;
}

std::optional<std::size_t> ComparisonSet::side_named(const QString& name) const {
  const auto side = std::ranges::find(view.sides, name.toStdString(), [](const SidePtr& each) { return each->name; });
  if (name.isEmpty() || side == view.sides.end()) return std::nullopt;
  return static_cast<std::size_t>(side - view.sides.begin());
}

std::shared_ptr<const ComparisonSet> compare_sides(const SideComparisonRequest& ask, const StaleCheck& cancelled) {
  const analysis::PointTable& table = ask.points->table();
  const std::vector<QString>& names = ask.axis.values;
  std::vector<std::vector<Row>> rows(names.size());
  for (const Row row : table.rows()) rows[ask.axis.codes[row]].push_back(row);
  analysis::ViewRequest request{.sides = {}, .margin = ask.margin, .hide_unmatched = true, .cancelled = cancelled};
  for (std::size_t run = 0; run < table.runs().size(); ++run) {
    const RunSummary& summary = ask.points->run(static_cast<analysis::RunIndex>(run)).summary;
    request.conditions.push_back(run_conditions(summary));
    request.looks = std::max(request.looks, interim_analysis_count(summary));
  }
  for (std::uint32_t code = 0; code < rows.size(); ++code) {
    if (code == ask.base || rows[code].empty()) continue;
    request.sides.push_back({.base_name = names[ask.base].toStdString(),
                             .name = names[code].toStdString(),
                             .base = rows[ask.base],
                             .other = rows[code],
                             .alignment = alignment_except(table, ask.axis, rows[ask.base], rows[code], ask.tiles)});
  }
  const auto set = std::make_shared<ComparisonSet>(ComparisonSet{ask, analysis::view_of(table, request)});
  return cancelled && cancelled() ? nullptr : set;
}

std::vector<VerdictCount> verdict_counts(const analysis::ComparisonView& view) {
  std::vector<VerdictCount> counts;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::ambiguous}) {
    counts.push_back({.key = to_qstring(analysis::to_string(verdict)).toLower(),
                      .title = qtext(analysis::verdict_title(verdict)),
                      .count = view.count(verdict)});
  }
  if (view.left_out > 0) {
    counts.push_back({.key = QString::fromLatin1(not_compared_key),
                      .title = qtext(msg::compare::not_compared{}),
                      .count = view.left_out});
  }
  return counts;
}

ComparisonTable::ComparisonTable(std::shared_ptr<const ComparisonSet> set, std::optional<std::size_t> side,
                                 RowFilter filter)
    : set_(std::move(set)),
      side_(side),
      filter_(std::move(filter)),
      view_(side ? set_->view.select_side(*side) : set_->view) {
  lines_ = view_.lines(analysis::ComparisonView::Lines::all);
  apply_filter();
  line_by_row_.assign(set_->points()->size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto take = [&](const std::vector<Row>& rows) {
      for (const Row row : rows) {
        if (line_by_row_[row] == 0) line_by_row_[row] = static_cast<std::uint32_t>(i + 1);
      }
    };
    const auto& [ignored, pair, left, member] = lines_[i];
    if (pair == nullptr) {
      take(left->rows);
    } else {
      take(pair->base);
      take(pair->other);
    }
  }
  make_table();
}

void ComparisonTable::apply_filter() {
  if (filter_.empty()) return;
  std::vector<bool> in_group(lines_.size(), filter_.group.isEmpty());
  for (const analysis::StripGroup& group : analysis::strip_groups(view_, lines_, true)) {
    if (group.label != filter_.group.toStdString()) continue;
    for (const std::size_t line : group.lines) in_group[line] = true;
  }
  std::vector<analysis::ComparisonLine> shown;
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    const bool has_verdict = filter_.verdict.isEmpty() || verdict_key(lines_[line].pair) == filter_.verdict;
    if (in_group[line] && has_verdict) shown.push_back(lines_[line]);
  }
  lines_ = std::move(shown);
}

std::optional<ShownPoint> ComparisonTable::point(std::size_t line, bool of_other) const {
  const std::optional<Row> row = lines_[line].point(of_other);
  return row ? std::optional((*set_->points())[*row]) : std::nullopt;
}

std::optional<std::size_t> ComparisonTable::line_of(Row point) const {
  if (point >= line_by_row_.size() || line_by_row_[point] == 0) return std::nullopt;
  return line_by_row_[point] - 1;
}

void ComparisonTable::make_table() {
  analysis::FactoredTable factored = comparison_table(view_, lines_);
  table_ = std::move(factored.table);
  common_ = std::move(factored.common);
  // The tooltip of an UNDECIDED verdict says what would decide it; the menu offers the command.
  const auto verdict = std::ranges::find(table_.columns, "verdict", &analysis::Column::key);
  verdict->tip = [this, words = verdict->tip](std::size_t line) {
    const ComparedPair* of = pair(line);
    const Message decision_text = of == nullptr ? Message() : undecided_note(set_->table(), *of, view_.margin);
    return decision_text.empty() ? words(line) : text(decision_text) + '\n' + words(line);
  };
}

CompareResult view_of(const CompareRequest& asked, const StaleCheck& outdated) {
  CompareResult found{.asked = asked, .set = asked.known};
  if (found.set == nullptr) found.set = compare_sides(asked.sides, outdated);
  if (found.set == nullptr) return found;  // Cancelled.
  const ComparisonSet& set = *found.set;
  const std::optional<std::size_t> side = set.side_named(asked.other);
  const auto table_of = [&](const std::shared_ptr<const ComparisonTable>& old, const RowFilter& filter) {
    const bool known = old != nullptr && old->set() == found.set && old->side() == side && old->filter() == filter;
    return known ? old : std::make_shared<const ComparisonTable>(found.set, side, filter);
  };
  found.all = table_of(asked.all, {});
  found.table = asked.filter.empty() ? found.all : table_of(asked.table, asked.filter);
  if (found.table->table().rows == 0) found.table = found.all;  // The rows of the filter are gone.
  const analysis::Table& table = found.table->table();
  found.rows = table.ordered(static_cast<std::size_t>(std::max(0, find_column_index(table, asked.sorted_by))),
                             asked.order == Qt::DescendingOrder);
  found.longest = longest_texts(table, width_sample_rows);
  std::vector<Row> candidates;
  for (const SidePtr& each : found.all->view().sides) {
    for (const ComparedPair& pair : each->result.pairs) candidates.push_back(pair.other.front());
  }
  found.partners = !candidates.empty() ||
                   std::ranges::any_of(set.view.sides, [](const SidePtr& each) { return has_match(each->result); });
  if (!found.partners) return found;
  found.simulated = simulated_groups(*set.points(), candidates);
  return found;
}

}  // namespace attnscope::ui
