// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as the window tells it: profiler/compare/comparison_table.h, where points stand by the settings
// that set them apart. Made in any thread, for 100,000 points take longer than a frame; nothing of it changes.
#pragma once

#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/compare/comparison_table.h"
#include "ui/pages/compare/comparison_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

class ShownComparison {
 public:
  ShownComparison() : ShownComparison(std::make_shared<const ComparisonSet>(), std::nullopt) {}
  /// `code`: of the one other side that is shown; nothing: all of them.
  ShownComparison(std::shared_ptr<const ComparisonSet> set, std::optional<std::uint32_t> code);
  ShownComparison(const ShownComparison&) = delete;
  ShownComparison& operator=(const ShownComparison&) = delete;

  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& set() const { return set_; }
  [[nodiscard]] std::optional<std::uint32_t> code() const { return code_; }
  [[nodiscard]] const analysis::Table& table() const { return table_; }
  /// Of each row of the table.
  [[nodiscard]] const std::vector<analysis::ComparisonLine>& lines() const { return lines_; }
  /// The point of the baseline, or of the other side, in a line.
  [[nodiscard]] std::optional<ShownPoint> point(std::size_t line, bool of_other) const;
  /// The first line that has this point.
  [[nodiscard]] std::optional<std::size_t> line_of(Row point) const;
  /// What all lines were set to, so that no column says it: "d 128 · full · bf16".
  [[nodiscard]] const QString& common() const { return common_; }

 private:
  /// A point that says which problem the line is of.
  [[nodiscard]] static Row row_in(const analysis::ComparisonLine& line) {
    return line.pair == nullptr ? line.left->rows.front() : line.pair->other.front();
  }
  [[nodiscard]] bool varies(const PointSetting& setting) const;
  /// What the sides differ in is in their names.
  [[nodiscard]] bool sets_sides_apart(const PointSetting& setting) const;
  void add_lines();
  void find_settings();
  void make_table();

  std::shared_ptr<const ComparisonSet> set_;
  std::optional<std::uint32_t> code_;
  std::vector<analysis::ComparisonLine> lines_;
  std::vector<Row> rows_;                     ///< row_in() of each
  std::vector<std::uint32_t> line_of_;        ///< by row of the points, from 1; 0: in none
  std::vector<const PointSetting*> varying_;  ///< settings that set lines apart
  QString common_;
  analysis::Table table_;
};

}  // namespace attnscope::ui
