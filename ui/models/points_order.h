// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a PointsTableModel, sorted with what has no value at the end.
#pragma once

#include "ui/models/points_table_model.h"
#include "ui/models/values_first.h"

namespace attnscope::ui {

class PointsOrder : public ValuesFirst {
  Q_OBJECT
 public:
  explicit PointsOrder(PointsTableModel& model, QObject* parent = nullptr);

 signals:
  /// The rows are sorted by what they were sorted by, which now stands in another column; -1: in none.
  void sort_column_moved(int column);

 private:
  PointsTableModel& model_;
  QString sorted_by_;  ///< while the model is reset
};

}  // namespace attnscope::ui
