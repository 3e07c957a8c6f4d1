// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison's table (comparison_table.h) as a model.
#pragma once

#include <memory>
#include <optional>

#include "ui/models/comparison_table.h"
#include "ui/models/table_model.h"

namespace attnscope::ui {

class ComparisonModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;

  void set_table(std::shared_ptr<const ComparisonTable> table);
  [[nodiscard]] const std::shared_ptr<const ComparisonTable>& table() const { return table_; }

  /// Null of what is left out.
  [[nodiscard]] const analysis::ComparedPair* pair(int row) const {
    return table_->pair(static_cast<std::size_t>(row));
  }
  /// The point of the baseline, or of the other side, in a row.
  [[nodiscard]] std::optional<ShownPoint> point(int row, bool of_other) const {
    return table_->point(static_cast<std::size_t>(row), of_other);
  }
  /// The first row that has this point.
  [[nodiscard]] std::optional<int> row_of(Row point) const;

  /// What a column is known by: "verdict", "time", a setting's key.
  [[nodiscard]] QString key_of(int column) const { return table_->columns()[static_cast<std::size_t>(column)].key; }
  /// What all rows were set to, so that no column says it: "d 128 · full · bf16".
  [[nodiscard]] QString common() const { return table_->common(); }
  /// -1 where there is none.
  [[nodiscard]] int column_named(const QString& key) const { return table_->column_named(key); }
  /// For other programs: plain numbers.
  static constexpr int copy_role = sort_role + 1;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(table_->lines().size()); }
  [[nodiscard]] int columns() const override { return static_cast<int>(table_->columns().size()); }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  std::shared_ptr<const ComparisonTable> table_ = std::make_shared<const ComparisonTable>();
};

}  // namespace attnscope::ui
