// SPDX-License-Identifier: GPL-3.0-or-later
// All points of the shown runs, a row each: what they were set to (point_settings.h), then what came of them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "ui/models/point_set.h"
#include "ui/models/point_settings.h"
#include "ui/models/table_model.h"

namespace attnscope::ui {

class PointsTableModel : public TableModel {
  Q_OBJECT
 public:
  explicit PointsTableModel(QObject* parent = nullptr);
  /// A column for each knob of these algorithms and for each of these fields, alone or with others; both have to
  /// outlive the model.
  explicit PointsTableModel(const Registry& registry, QObject* parent = nullptr,
                            std::span<const Field> fields = point_fields());

  /// Grows in place when the points so far are a beginning of the new ones, as they are while a run is followed, and
  /// none of the others has a knob that no algorithm states: those get columns too.
  void set_points(std::shared_ptr<const PointSet> points);
  [[nodiscard]] const std::shared_ptr<const PointSet>& points() const { return points_; }
  [[nodiscard]] ShownPoint point(int row) const { return (*points_)[static_cast<Row>(row)]; }
  /// The column of that heading; -1 when there is none.
  [[nodiscard]] int column_of(const QString& heading) const;
  /// False for a column of a rarely set property that no point has.
  [[nodiscard]] bool column_in_use(int column) const;
  /// The column of that key ("n", "heads", a field's or a knob's name); -1 when there is none.
  [[nodiscard]] int column_named(const QString& key) const;
  [[nodiscard]] QString key_of(int column) const;

  /// Whether a column is read off the point's setting; the others compute.
  [[nodiscard]] bool is_setting(int column) const;

  struct Value {
    QString text;
    QVariant sort;  ///< invalid: the point has no value here
    QString tip;
    bool number = false;
  };
  struct Column {
    QString heading;
    QString key;  ///< what it is known by where an order is kept: "heads"
    QString help;
    std::function<Value(const PointSet&, Row)> value;
    std::string_view metric = {};  ///< of the metrics table, whose unit the values have; empty: a setting
    QString field = {};            ///< the one field that it shows, which it is known by as well
    std::function<bool(const PointSet&, Row)> in_use = nullptr;  ///< none: always shown
  };

  /// For other programs: a plain number in the column's base unit where it has one; in the header the unit too.
  static constexpr int copy_role = sort_role + 1;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(points_->size()); }
  [[nodiscard]] int columns() const override;
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  void make_columns();
  /// Whether there were new ones.
  bool add_foreign_knobs(const PointSet& points);

  const Registry& registry_;
  std::span<const Field> fields_;
  std::set<std::string> foreign_knobs_;  ///< of points, stated by no algorithm of the registry
  std::vector<Column> columns_;
  std::shared_ptr<const PointSet> points_ = std::make_shared<const PointSet>();
};

}  // namespace attnscope::ui
