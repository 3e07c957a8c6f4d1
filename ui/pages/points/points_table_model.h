// SPDX-License-Identifier: GPL-3.0-or-later
// A table of points (points_table.h) as a model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ui/models/points_table.h"
#include "ui/models/result_model.h"

namespace attnscope::ui {

class PointsTableModel : public ResultModel {
  Q_OBJECT
 public:
  explicit PointsTableModel(QObject* parent = nullptr);
  /// For set_points(): points_table()'s.
  explicit PointsTableModel(const Registry& registry, QObject* parent = nullptr,
                            std::span<const Field> fields = point_fields());

  /// Grows in place when the points so far are a beginning of the new ones, as they are while a run is followed, and
  /// the columns are the same ones. `order`: of the rows; empty: as the points stand.
  void set_contents(std::shared_ptr<const PointsTable> contents, std::vector<Row> order = {});
  void set_points(std::shared_ptr<const PointSet> points) {
    set_contents(points_table(std::move(points), registry_, fields_));
  }
  [[nodiscard]] const std::shared_ptr<const PointsTable>& contents() const { return contents_; }
  [[nodiscard]] ShownPoint point(int row) const { return (*contents_->points)[static_cast<Row>(line_of(row))]; }
  /// Where a point of any set is among the rows.
  [[nodiscard]] std::optional<int> row_of(const ShownPoint& point) const;
  /// The column of that heading; -1 when there is none.
  [[nodiscard]] int column_of(const QString& heading) const;
  [[nodiscard]] const PointsTable::Facts& facts(int column) const {
    return contents_->facts[static_cast<std::size_t>(column)];
  }

 protected:
  [[nodiscard]] QVariant cell(int line, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  const Registry& registry_;
  std::span<const Field> fields_;
  std::shared_ptr<const PointsTable> contents_;
};

}  // namespace attnscope::ui
