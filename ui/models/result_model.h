// SPDX-License-Identifier: GPL-3.0-or-later
// Item models of an analysis table (profiler/points/table.h) and of the table of points: settings (point_settings.h),
// then results.
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QLatin1String>
#include <QPixmap>
#include <QString>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "profiler/points/table.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"
#include "ui/text/values.h"

namespace attnscope::ui {

using analysis::Row;

/// Values of all rows, as ResultModel copies them.
[[nodiscard]] ShownValues values_of(const analysis::Table& table);
/// Returns -1 if the table has no such column.
[[nodiscard]] int find_column_index(const analysis::Table& table, const QString& key);

/// Returns blue for better and orange for worse; invalid for other tones.
[[nodiscard]] QColor tone_color(analysis::Tone tone, bool dark);

class ResultModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;

  static constexpr int sort_role = Qt::UserRole + 1;
  static constexpr int copy_role = ui::copy_role;

  using TablePtr = std::shared_ptr<const analysis::Table>;
  /// Marker in the first column; null: none.
  using RowMarker = std::function<QPixmap(int row)>;
  /// `order`: lines in display order; empty: table order.
  void set_table(TablePtr table, RowMarker marker = nullptr, std::vector<Row> order = {});
  void extend_table(TablePtr table, std::vector<Row> order);
  /// Like set_table(); keeps the selection if the rows and columns match.
  void update_table(TablePtr table);
  /// Sets the order of lines; empty: table order. Keeps the selection.
  void set_order(std::vector<Row> lines);
  [[nodiscard]] QString key_of(int column) const;
  [[nodiscard]] int find_column_index(const QString& key) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(table_->rows);
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(table_->columns.size());
  }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int column, Qt::Orientation orientation, int role) const override;

  [[nodiscard]] int line_of(int row) const {
    return order_.empty() ? row : static_cast<int>(order_[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] int row_of_line(int line) const {
    return order_.empty() ? line : static_cast<int>(std::ranges::find(order_, static_cast<Row>(line)) - order_.begin());
  }

 private:
  TablePtr table_ = std::make_shared<const analysis::Table>();
  RowMarker marker_;
  std::vector<Row> order_;  ///< Line by row; empty: table order.
};

inline constexpr QLatin1String result_key("result");
inline constexpr QLatin1String values_key("values");

struct PointsTable {
  struct ColumnInfo {
    std::string_view metric = {};  ///< metric of the metrics table; empty if the column is not a metric
    bool in_use = true;            ///< false: a rarely used setting that no point has
    bool varies = true;            ///< false: there are several points, and all have the same text
    QString longest = {};          ///< longest text; of metrics, among a sample of the points
  };
  std::shared_ptr<const PointSet> points;
  analysis::Table table;
  std::vector<ColumnInfo> facts;  ///< indexed by column
};

/// Builds the table; slow, thread-safe. Has a column for each known knob and each of the points, and for each field.
[[nodiscard]] std::shared_ptr<const PointsTable> points_table(std::shared_ptr<const PointSet> points);

/// Returns the outcome of a point as stored in files, untranslated.
[[nodiscard]] std::string result_code(const PointSet& points, Row row);

/// Returns the column of a setting. `spec`: returns the spec of a row; `rows`: number of rows. Settings of several
/// fields ("1 x 132") sort by an internal key.
[[nodiscard]] analysis::Column setting_column(const Field& setting, std::function<PointSpec(std::size_t)> spec,
                                              std::size_t rows);
[[nodiscard]] std::vector<Row> distinct_rows(const Field& setting, const analysis::PointTable& points,
                                             std::span<const Row> rows);

class PointsTableModel : public ResultModel {
  Q_OBJECT
 public:
  explicit PointsTableModel(QObject* parent = nullptr);

  /// Appends rows in place if the new points extend the old ones and the columns are equal, as while following a run.
  /// `order`: rows in display order; empty: table order.
  void set_contents(std::shared_ptr<const PointsTable> contents, std::vector<Row> order = {});
  void set_points(std::shared_ptr<const PointSet> points) { set_contents(points_table(std::move(points))); }
  [[nodiscard]] const std::shared_ptr<const PointsTable>& contents() const { return contents_; }
  [[nodiscard]] ShownPoint point(int row) const { return (*contents_->points)[static_cast<Row>(line_of(row))]; }
  [[nodiscard]] std::optional<int> row_of(const ShownPoint& point) const;
  [[nodiscard]] const PointsTable::ColumnInfo& facts(int column) const {
    return contents_->facts[static_cast<std::size_t>(column)];
  }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int column, Qt::Orientation orientation, int role) const override;

 private:
  std::shared_ptr<const PointsTable> contents_;
};

}  // namespace attnscope::ui
