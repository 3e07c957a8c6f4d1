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
  /// The column that a filter knows by that name ("n", "heads"); -1 when there is none.
  [[nodiscard]] int column_named(const QString& key) const;

  /// What a bare word of a filter is looked for in.
  enum class Search {
    words,    ///< part of the text
    numbers,  ///< a number that stands there whole
    by_name   ///< nothing: only what names the column
  };
  [[nodiscard]] Search search_of(int column) const;
  /// Whether a column is read off the point's setting; the others compute.
  [[nodiscard]] bool is_setting(int column) const;

  /// For other programs: a plain number in the column's base unit where it has one; in the header the unit too.
  static constexpr int copy_role = sort_role + 1;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(points_.size()); }
  [[nodiscard]] int columns() const override;
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  std::vector<ShownPoint> points_;
};

}  // namespace attnscope::ui
