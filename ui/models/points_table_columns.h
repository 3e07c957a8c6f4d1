// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of the table of points.
#pragma once

#include <QLatin1String>
#include <cstdint>
#include <functional>
#include <vector>

#include "ui/models/points_table_model.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

/// The key of the column that says how a point ended.
inline constexpr QLatin1String result_key("result");

/// Functions of a row that give the same for rows of which a column says the same.
using ColumnKeys = std::vector<std::function<std::uint64_t(Row)>>;

/// What was asked for.
[[nodiscard]] PointsTableModel::Column setting_column(PointSetting setting);
/// What came of the point.
[[nodiscard]] std::vector<PointsTableModel::Column> outcome_columns();

/// Rows by what a column says of them.
struct Distinct {
  std::vector<std::uint32_t>
      code;                  ///< by row, from the first that was asked for on; equal where the column says the same
  std::vector<Row> example;  ///< by code
};

/// Of the rows before `end`, from `first` on.
[[nodiscard]] Distinct tell_apart(const ColumnKeys& keys, Row first, Row end);

}  // namespace attnscope::ui
