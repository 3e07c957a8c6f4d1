// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a PointsTableModel, sorted with what has no value at the end.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/models/ordered_rows.h"
#include "ui/models/points_table_model.h"

namespace attnscope::ui {

class PointsOrder : public OrderedRows {
  Q_OBJECT
 public:
  explicit PointsOrder(PointsTableModel& model, QObject* parent = nullptr);

  /// What is listed without being in memory the model orders itself, where it can; else the rows stay as they are.
  void sort(int column, Qt::SortOrder order) override;
  /// The column by which rows are, or are to be, sorted here; -1: by none.
  [[nodiscard]] int sortColumn() const { return own_column_; }
  [[nodiscard]] Qt::SortOrder sortOrder() const { return sorted_in_; }
  /// Finds the order that points will have as the model's rows, in any thread; nothing where they will have none.
  [[nodiscard]] PointsTableModel::Ordering ordering_of(const std::shared_ptr<const PointSet>& points) const;
  /// The column's key by which rows are, or are to be, sorted; empty: by none.
  [[nodiscard]] const QString& sorted_by() const { return sorted_by_; }
  /// What ordering_of() found of points, and of which column in which order.
  struct Prepared {
    std::shared_ptr<const PointSet> points;
    QString by;
    Qt::SortOrder order = Qt::AscendingOrder;
    std::vector<Row> rows;
  };
  /// Gives these points to the model, and its rows that order.
  void set_points(Prepared prepared);

 signals:
  /// The rows are sorted by what they were sorted by, which now stands in another column; -1: in none. Also where they
  /// were to be sorted by a column that they cannot be sorted by.
  void sort_column_moved(int column);

 private:
  void follow_model();
  void take_reset();
  /// Sorts by own_column_: at once, or aside where rows are many.
  void order_anew();
  /// The order that was prepared of the model's points, where it is the one that is wanted.
  [[nodiscard]] std::optional<std::vector<Row>> prepared() const;

  PointsTableModel& model_;
  QString sorted_by_;  ///< key of a column; empty: by none
  Qt::SortOrder sorted_in_ = Qt::AscendingOrder;
  int shown_column_ = -1;  ///< the column of that key, as was last said
  int own_column_ = -1;    ///< by which the rows stand in an order of this one
  Prepared prepared_;      ///< while the model is given these points
};

}  // namespace attnscope::ui
