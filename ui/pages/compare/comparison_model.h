// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison's table (comparison_table.h) as a model.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ui/models/result_model.h"
#include "ui/pages/compare/shown_comparison.h"

namespace attnscope::ui {

class ComparisonModel : public ResultModel {
 public:
  explicit ComparisonModel(QObject* parent = nullptr) : ResultModel(parent) {
    set_comparison(std::make_shared<const ShownComparison>(), {});
  }

  /// `order`: of its lines.
  void set_comparison(std::shared_ptr<const ShownComparison> comparison, std::vector<Row> order) {
    if (comparison == comparison_) return set_order(std::move(order));
    set_table({comparison, &comparison->table()}, nullptr, std::move(order));
    comparison_ = std::move(comparison);
  }
  [[nodiscard]] const std::shared_ptr<const ShownComparison>& comparison() const { return comparison_; }

  /// Null of what is left out.
  [[nodiscard]] const analysis::ComparedPair* pair(int row) const {
    return comparison_->lines()[static_cast<std::size_t>(line_of(row))].pair;
  }
  /// The point of the baseline, or of the other side, in a row.
  [[nodiscard]] std::optional<ShownPoint> point(int row, bool of_other) const {
    return comparison_->point(static_cast<std::size_t>(line_of(row)), of_other);
  }
  /// The first row that has this point.
  [[nodiscard]] std::optional<int> row_of(Row point) const {
    const std::optional<std::size_t> line = comparison_->line_of(point);
    return line ? std::optional(row_of_line(static_cast<int>(*line))) : std::nullopt;
  }
  /// What all rows were set to, so that no column says it: "d 128 · full · bf16".
  [[nodiscard]] QString common() const { return comparison_->common(); }

 private:
  std::shared_ptr<const ShownComparison> comparison_;
};

}  // namespace attnscope::ui
