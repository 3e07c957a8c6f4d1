// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "messages/compare.h"
#include "storage/compared_runs.h"
#include "ui/process/background_delete.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::ComparedSide;
using SidePtr = std::shared_ptr<const ComparedSide>;

constexpr int width_sample_rows = 200;  ///< Rows used to estimate column widths.

QString summary_of(const CompareResult& of) {
  const analysis::ComparisonView& view = of.table->view();
  QStringList lines;
  for (const Message& each : view.evidence) lines << qtext(each);
  lines << (view.differences.empty() ? qtext(msg::compare::nothing_differs{}) : qtext(view.differences));
  if (!of.table->common().empty()) lines << qtext(of.table->common());
  return lines.join(QLatin1Char('\n'));
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
  const auto set = make_background_deleted<ComparisonSet>(ComparisonSet{ask, analysis::view_of(table, request)});
  return cancelled && cancelled() ? nullptr : set;
}

ComparisonTable::ComparisonTable(std::shared_ptr<const ComparisonSet> set, std::optional<std::size_t> side)
    : set_(std::move(set)), side_(side), view_(side ? set_->view.select_side(*side) : set_->view) {
  lines_ = view_.lines(analysis::ComparisonView::Lines::all);
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
  const bool known = asked.table != nullptr && asked.table->set() == found.set && asked.table->side() == side;
  found.table = known ? asked.table : std::make_shared<const ComparisonTable>(found.set, side);
  const analysis::Table& table = found.table->table();
  found.rows = table.ordered(static_cast<std::size_t>(std::max(0, find_column_index(table, asked.sorted_by))),
                             asked.order == Qt::DescendingOrder);
  found.longest = longest_texts(table, width_sample_rows);
  std::vector<Row> candidates;
  for (const SidePtr& each : found.table->view().sides) {
    for (const ComparedPair& pair : each->result.pairs) candidates.push_back(pair.other.front());
  }
  found.partners = !candidates.empty() ||
                   std::ranges::any_of(set.view.sides, [](const SidePtr& each) { return has_match(each->result); });
  if (!found.partners) return found;
  found.simulated = simulated_groups(*set.points(), candidates);
  found.summary = summary_of(found);
  return found;
}

}  // namespace attnscope::ui
