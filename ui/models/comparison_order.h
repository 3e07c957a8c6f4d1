// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a comparison in the order of one of its columns.
#pragma once

#include <memory>
#include <vector>

#include "ui/models/comparison_model.h"
#include "ui/models/ordered_rows.h"

namespace attnscope::ui {

class ComparisonOrder : public OrderedRows {
  Q_OBJECT
 public:
  explicit ComparisonOrder(ComparisonModel& model, QObject* parent = nullptr);

  void sort(int column, Qt::SortOrder order) override;
  /// Gives that table to the model; `rows`: its lines in the order that is wanted.
  void set_table(std::shared_ptr<const ShownComparison> table, std::vector<Row> rows);

 private:
  ComparisonModel& model_;
};

}  // namespace attnscope::ui
