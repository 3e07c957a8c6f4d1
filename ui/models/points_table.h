// SPDX-License-Identifier: GPL-3.0-or-later
// Table of points, one row each: settings (point_settings.h), then results.
#pragma once

#include <QLatin1String>
#include <QString>
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
#include "ui/models/result_model.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

/// Keys of columns that other code refers to.
inline constexpr QLatin1String result_key("result");
inline constexpr QLatin1String values_key("values");

struct PointsTable {
  /// Properties of a column that are expensive to compute.
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
/// Returns one row per distinct value of the setting.
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

 protected:
  [[nodiscard]] QVariant cell(int line, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  std::shared_ptr<const PointsTable> contents_;
};

}  // namespace attnscope::ui
