// SPDX-License-Identifier: GPL-3.0-or-later
// All points of the shown runs, a row each.
#pragma once

#include "ui/models/table_model.h"
#include "ui/workspace.h"

namespace attnscope::ui {

class PointsTableModel : public TableModel {
  Q_OBJECT
 public:
  explicit PointsTableModel(QObject* parent = nullptr);

  /// Grows in place when the points so far are a beginning of the new ones, as they are while a run is followed.
  void set_points(std::vector<ShownPoint> points);
  [[nodiscard]] const ShownPoint& point(int row) const { return points_[static_cast<std::size_t>(row)]; }
  /// The column of that heading; -1 when there is none.
  [[nodiscard]] int column_of(const QString& heading) const;
  /// False for a column of a rarely set property that no point has.
  [[nodiscard]] bool column_in_use(int column) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(points_.size()); }
  [[nodiscard]] int columns() const override;
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  std::vector<ShownPoint> points_;
};

}  // namespace attnscope::ui
