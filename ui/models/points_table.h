// SPDX-License-Identifier: GPL-3.0-or-later
// Points as a table, a row each: what they were set to (point_settings.h), then what came of them.
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

/// The keys of columns that are looked at for more than their cells.
inline constexpr QLatin1String result_key("result");
inline constexpr QLatin1String values_key("values");

struct PointsTable {
  /// What takes long to find out about a column.
  struct Facts {
    std::string_view metric = {};  ///< of the metrics table, whose unit the values have; empty: none
    bool in_use = true;            ///< false: a rarely set property that no point has
    bool varies = true;            ///< false: all points, of which there are several, read the same, or have nothing
    QString longest = {};          ///< text; of a metric, among some of the points
  };
  std::shared_ptr<const PointSet> points;
  analysis::Table table;
  std::vector<Facts> facts;  ///< by column
};

/// May take long, in any thread. Columns for each knob of these algorithms and of the points and for each of these
/// fields, alone or with others; registry and fields have to outlive it.
[[nodiscard]] std::shared_ptr<const PointsTable> points_table(std::shared_ptr<const PointSet> points,
                                                              const Registry& registry = known_algorithms(),
                                                              std::span<const Field> fields = point_fields());

/// How a point ended: as files have it, in no language.
[[nodiscard]] std::string result_code(const PointSet& points, Row row);

/// `spec`: of each of so many rows of a table. What several fields are sorted by is no value of theirs: "1 x 132".
[[nodiscard]] analysis::Column setting_column(const Field& setting, std::function<PointSpec(std::size_t)> spec,
                                              std::size_t rows);
/// A row of each of those that read differently; the setting may have the same text for several of them.
[[nodiscard]] std::vector<Row> examples_of(const Field& setting, const analysis::PointTable& points,
                                           std::span<const Row> rows);

// A table of points (points_table.h) as a model.

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
