// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/shown_comparison.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace attnscope::ui {
namespace {

using analysis::ComparisonLine;

const std::vector<PointSetting>& compared_settings() {
  static const std::vector<PointSetting> settings = point_settings();
  return settings;
}

std::optional<double> number_of(const PointSetting::Value& value) {
  bool is_number = false;
  const double number = value.sort.typeId() == QMetaType::QString ? 0 : value.sort.toDouble(&is_number);
  return is_number ? std::optional(number) : std::nullopt;
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
  const analysis::PointColumns& points = set_->points->table().points();
  const Row first = rows_.front();
  if (setting.fields.empty()) {
    const auto text = [&](Row row) { return setting.value(points.spec(row)).text; };
    // Of knobs there are few values, whatever the rows.
    const QString of_first = text(first);
    std::map<std::uint32_t, bool> differs;
    return std::ranges::any_of(rows_, [&](Row row) {
      const auto [known, fresh] = differs.try_emplace(points.knobs().code(row), false);
      if (fresh) known->second = text(row) != of_first;
      return known->second;
    });
  }
  return std::ranges::any_of(setting.fields, [&](std::string_view name) {
    const analysis::FieldColumn* column = points.find_field(name);
    if (column == nullptr) return false;
    const std::uint64_t of_first = column->key(first);
    return std::ranges::any_of(rows_, [&](Row row) { return column->key(row) != of_first; });
  });
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
    const auto value = [this, setting](std::size_t line) {
      return setting->value(set_->points->table().spec(rows_[line]));
    };
    analysis::Column& column = settings.emplace_back();
    column = {.key = setting->key.toStdString(), .title = setting->label.toStdString()};
    column.help = setting->help.toStdString();
    // What several fields are sorted by is no value of theirs: "1 × 132" is copied as it stands.
    column.cell = [value, valued = setting->fields.size() <= 1](std::size_t line) {
      const PointSetting::Value of_line = value(line);
      return analysis::Cell{.text = of_line.text.toStdString(), .number = valued ? number_of(of_line) : std::nullopt};
    };
    if (!value(0).number) continue;
    column.kind = analysis::ColumnKind::number;
    column.number = [value](std::size_t line) { return number_of(value(line)); };
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
