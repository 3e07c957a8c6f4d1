// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "messages/difference.h"
#include "storage/compared_runs.h"
#include "ui/models/points_table.h"
#include "ui/process/background_delete.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::ComparedSide;
using SidePtr = std::shared_ptr<const ComparedSide>;

constexpr int width_sample_rows = 200;  ///< Rows used to estimate column widths.

/// Returns the differences between the baseline and any candidate: "driver 580.65 → 590.10".
QStringList side_differences(const analysis::ComparisonView& view, bool of_several) {
  struct FindResult {
    QString name;
    QString base;
    QStringList others;
    std::size_t rows = 0;
  };
  std::vector<FindResult> found;
  for (const SidePtr& side : view.sides) {
    for (const analysis::Difference& difference : side->result.differences) {
      const QString name = one_line(qtext(difference.name));
      auto known = std::ranges::find(found, name, &FindResult::name);
      if (known == found.end()) {
        const QString base = one_line(to_qstring(analysis::display_text(difference.base)));
        known = found.insert(found.end(), {.name = name, .base = base, .others = {}});
      }
      known->rows += difference.rows;
      const QString there = one_line(to_qstring(analysis::display_text(difference.other)));
      if (there.isEmpty() || known->others.contains(there)) continue;
      known->others << (of_several ? qtext(msg::compare_page::of_side{.side = side->name, .value = there.toStdString()})
                                   : there);
    }
  }
  const auto or_none = [](const QString& text) {
    return (text.isEmpty() ? qtext(msg::compare_page::none_recorded{}) : shortened(text, 80)).toStdString();
  };
  QStringList words;
  for (const auto& [name, base, others, rows] : found) {
    const Message change = msg::difference::change{
        .base = or_none(base), .name = name.toStdString(), .other = or_none(others.join(QStringLiteral(", ")))};
    const bool listed = rows == 0 || !others.isEmpty();
    const std::string what = listed ? text(change) : name.toStdString();
    words << (rows == 0 ? to_qstring(what) : qtext(msg::compare_page::in_rows{.rows = rows, .what = what}));
  }
  return words;
}

QString summary_of(const CompareResult& of) {
  const analysis::ComparisonView& view = of.table->view();
  QStringList lines;
  for (const Message& each : view.evidence) lines << qtext(each);
  const QStringList differences = side_differences(view, view.sides.size() > 1);
  lines << (differences.isEmpty() ? qtext(msg::compare::nothing_differs{})
                                  : qtext(msg::compare_page::differs{
                                        .differences = differences.join(QStringLiteral("; ")).toStdString()}));
  if (!of.table->common_settings().isEmpty()) {
    lines << qtext(msg::compare_page::common{.settings = of.table->common_settings().toStdString()});
  }
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
  rows_.reserve(lines_.size());
  line_by_row_.assign(set_->points()->size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto take = [&](const std::vector<Row>& rows) {
      for (const Row row : rows) {
        if (line_by_row_[row] == 0) line_by_row_[row] = static_cast<std::uint32_t>(i + 1);
      }
    };
    const auto& [ignored, pair, left, member] = lines_[i];
    rows_.push_back(pair == nullptr ? left->rows.front() : pair->other.front());
    if (pair == nullptr) {
      take(left->rows);
    } else {
      take(pair->base);
      take(pair->other);
    }
  }
  find_settings();
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

bool ComparisonTable::varies(const Field& setting) const {
  const std::vector<Row> examples = distinct_rows(setting, set_->table(), rows_);
  if (setting.role != FieldRole::knob) return examples.size() > 1;
  // Different knobs may have the same value.
  const auto text = [&](Row row) { return setting_value(setting, set_->table().spec(row)).text; };
  return std::ranges::any_of(examples, [&](Row row) { return text(row) != text(examples.front()); });
}

bool ComparisonTable::defines_sides(const Field& setting) const {
  return std::ranges::any_of(set_->axis().names, [&](const std::string& name) {
    return setting.name == name || std::ranges::find(setting.parts, name) != setting.parts.end();
  });
}

bool ComparisonTable::differs_between_sides(const Field& setting) const {
  return std::ranges::any_of(lines_, [&](const auto& line) {
    if (line.pair == nullptr) return false;
    const auto text = [&](Row row) { return setting_value(setting, set_->table().spec(row)).text; };
    return text(line.pair->base.front()) != text(line.pair->other.front());
  });
}

/// Each setting has a column, is common to all lines, or differs between the sides.
void ComparisonTable::find_settings() {
  if (lines_.empty()) return;
  static const std::vector<Field> settings = point_settings();
  QStringList words;
  const PointSpec first = set_->table().spec(rows_.front());
  for (const Field& setting : settings) {
    if (defines_sides(setting)) continue;
    if (varies(setting)) {
      varying_.push_back(&setting);
      continue;
    }
    if (!is_always_shown(setting) && !is_set(setting, first)) continue;  // Default values are not listed.
    const QString text = setting_value(setting, first).text;
    if (!text.isEmpty() && !differs_between_sides(setting))
      words << QStringLiteral("%1 %2").arg(qtext(setting.label()), text);
  }
  common_ = words.join(QStringLiteral(" · "));
}

void ComparisonTable::make_table() {
  table_ = comparison_table(view_, lines_);
  std::vector<analysis::Column> settings;
  for (const Field* setting : varying_) {
    settings.push_back(setting_column(
        *setting, [this](std::size_t line) { return set_->table().spec(rows_[line]); }, rows_.size()));
  }
  // The tooltip of an UNDECIDED verdict says what would decide it; the menu offers the command.
  const auto verdict = std::ranges::find(table_.columns, "verdict", &analysis::Column::key);
  verdict->tip = [this, words = verdict->tip](std::size_t line) {
    const ComparedPair* of = pair(line);
    const Message decision_text = of == nullptr ? Message() : undecided_note(set_->table(), *of, view_.margin);
    return decision_text.empty() ? words(line) : text(decision_text) + '\n' + words(line);
  };
  if (const auto note = std::ranges::find(table_.columns, "note", &analysis::Column::key);
      note != table_.columns.end()) {
    note->cell = [this, words = note->cell](std::size_t line) {
      return lines_[line].left == nullptr ? analysis::Cell{} : words(line);
    };
    if (std::ranges::all_of(lines_, [](const auto& line) { return line.left == nullptr; })) table_.drop("note");
  }
  const auto place = std::ranges::find(table_.columns, "point", &analysis::Column::key);
  table_.columns.insert(table_.columns.erase(place), std::make_move_iterator(settings.begin()),
                        std::make_move_iterator(settings.end()));
  const auto differ = [](const SidePtr& side) {
    return std::ranges::any_of(side->result.differences, [](const auto& each) { return each.rows > 0; });
  };
  if (std::ranges::none_of(view_.sides, differ)) table_.drop("differs");
  // Puts the candidate, the ratio and what else differs second, so that they are visible without scrolling.
  const auto is_first = [](const analysis::Column& column) {
    return column.key == "side" || column.key == "ratio" || column.key == "differs" || column.key == "tiles";
  };
  const auto ratio = std::ranges::find_if(table_.columns, is_first);
  std::rotate(table_.columns.begin() + 1, ratio, std::find_if_not(ratio, table_.columns.end(), is_first));
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
