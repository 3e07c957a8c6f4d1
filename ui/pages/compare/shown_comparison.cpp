// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/shown_comparison.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/models/points_table.h"

namespace attnscope::ui {
namespace {

using analysis::ComparisonLine;

const std::vector<PointSetting>& compared_settings() {
  static const std::vector<PointSetting> settings = point_settings();
  return settings;
}

}  // namespace

ShownComparison::ShownComparison(std::shared_ptr<const ComparisonSet> set, std::optional<std::uint32_t> code)
    : set_(std::move(set)), code_(code) {
  add_lines();
  find_settings();
  make_table();
}

void ShownComparison::add_lines() {
  for (const bool left_out : {false, true}) {
    for (std::size_t other = 0; other < set_->others.size(); ++other) {
      if (code_ && set_->others[other].code != *code_) continue;
      const analysis::ComparisonResult& result = set_->others[other].result;
      left_out ? add_left_out(lines_, result, other) : add_pairs(lines_, result, other);
    }
  }
  rows_.reserve(lines_.size());
  for (const ComparisonLine& line : lines_) rows_.push_back(row_in(line));
  line_of_.assign(set_->points->size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto take = [&](const std::vector<Row>& rows) {
      for (const Row row : rows) {
        if (line_of_[row] == 0) line_of_[row] = static_cast<std::uint32_t>(i + 1);
      }
    };
    if (lines_[i].pair == nullptr) {
      take(lines_[i].left->rows);
    } else {
      take(lines_[i].pair->base);
      take(lines_[i].pair->other);
    }
  }
}

std::optional<ShownPoint> ShownComparison::point(std::size_t line, bool of_other) const {
  const std::optional<Row> row = lines_[line].point(of_other);
  return row ? std::optional((*set_->points)[*row]) : std::nullopt;
}

std::optional<std::size_t> ShownComparison::line_of(Row point) const {
  if (point >= line_of_.size() || line_of_[point] == 0) return std::nullopt;
  return line_of_[point] - 1;
}

bool ShownComparison::varies(const PointSetting& setting) const {
  const analysis::PointTable& points = set_->points->table();
  const std::vector<Row> examples = examples_of(setting, points, rows_);
  if (!setting.fields.empty()) return examples.size() > 1;
  // Of several knobs one may have the same value.
  const auto text = [&](Row row) { return setting.value(points.spec(row)).text; };
  return std::ranges::any_of(examples, [&](Row row) { return text(row) != text(examples.front()); });
}

bool ShownComparison::sets_sides_apart(const PointSetting& setting) const {
  return std::ranges::any_of(set_->axis.names, [&](const std::string& name) {
    return setting.fields.empty() ? setting.key == QString::fromStdString(name)
                                  : std::ranges::find(setting.fields, name) != setting.fields.end();
  });
}

/// A setting either has a column or is common to all lines.
void ShownComparison::find_settings() {
  if (lines_.empty()) return;
  QStringList words;
  const PointSpec first = set_->points->table().spec(rows_.front());
  for (const PointSetting& setting : compared_settings()) {
    if (sets_sides_apart(setting)) continue;
    if (varies(setting)) {
      varying_.push_back(&setting);
      continue;
    }
    if (setting.shown != PointSetting::Shown::always && !setting.is_set(first)) continue;  // goes without saying
    const QString text = setting.value(first).text;
    if (!text.isEmpty()) words << QStringLiteral("%1 %2").arg(setting.label, text);
  }
  common_ = words.join(QStringLiteral(" · "));
}

void ShownComparison::make_table() {
  analysis::ComparisonOf of{.points = &set_->points->table(), .margin = set_->margin, .others = {}};
  for (const OtherSide& other : set_->others) of.others.push_back(set_->name_of(other).toStdString());
  table_ = comparison_table(lines_, of);
  std::vector<analysis::Column> settings;
  for (const PointSetting* setting : varying_) {
    settings.push_back(setting_column(
        *setting, [this](std::size_t line) { return set_->points->table().spec(rows_[line]); }, rows_.size()));
  }
  table_.drop("against");
  const auto place = std::ranges::find(table_.columns, "point", &analysis::Column::key);
  table_.columns.insert(table_.columns.erase(place), std::make_move_iterator(settings.begin()),
                        std::make_move_iterator(settings.end()));
  // What is read first is in sight, however many settings there are.
  const auto ratio = std::ranges::find(table_.columns, "ratio", &analysis::Column::key);
  if (ratio != table_.columns.end()) std::rotate(table_.columns.begin() + 1, ratio, ratio + 1);
}

}  // namespace attnscope::ui
