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

  /// What is listed without being in memory the model orders itself, where it can; else the rows stay as they are.
  void sort(int column, Qt::SortOrder order) override;

 signals:
  /// The rows are sorted by what they were sorted by, which now stands in another column; -1: in none. Also where they
  /// were to be sorted by a column that they cannot be sorted by.
  void sort_column_moved(int column);

 private:
  PointsTableModel& model_;
  QString sorted_by_;  ///< key of a column; empty: by none
  Qt::SortOrder sorted_in_ = Qt::AscendingOrder;
  int shown_column_ = -1;  ///< the column of that key, as was last said
};

}  // namespace attnscope::ui
