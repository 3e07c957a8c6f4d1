// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a comparison in the order of one of its columns. That of many is found aside: until it is, they stand as
// they stood.
#pragma once

#include <memory>
#include <vector>

#include "ui/models/comparison_model.h"
#include "ui/models/ordered_rows.h"
#include "ui/process/background_work.h"

namespace attnscope::ui {

class ComparisonOrder : public OrderedRows {
  Q_OBJECT
 public:
  explicit ComparisonOrder(ComparisonModel& model, QObject* parent = nullptr);

  void sort(int column, Qt::SortOrder order) override;
  /// Gives that table to the model; `rows`: its lines in the order that is wanted.
  void set_table(std::shared_ptr<const ComparisonTable> table, std::vector<Row> rows);
  /// Whether an order is being found.
  [[nodiscard]] bool busy() const { return background_.busy(); }
  void wait() { background_.wait(); }

 private:
  ComparisonModel& model_;
  BackgroundWork background_;
};

}  // namespace attnscope::ui
