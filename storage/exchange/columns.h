// SPDX-License-Identifier: Apache-2.0
// The columns of exports with one row a point and kernel. Internal to storage/exchange.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/exchange/cells.h"
#include "storage/exchange/selection.h"

namespace attnscope::exchange {

struct Row {
  const RunSummary& run;
  const StoredPoint& point;
  const KernelRecord& kernel;

  [[nodiscard]] const PointRecord& record() const { return point.record; }
  /// What is true of the point as a whole stands in its first row only, so that a sum over rows counts it once.
  [[nodiscard]] bool is_all() const { return kernel.kernel == "all"; }
};

struct Column {
  std::string name;
  std::function<Cell(const Row&)> value = nullptr;  ///< none: the metric of that name, stored or derived

  [[nodiscard]] Cell of(const Row& row) const;
};

/// What every export has, whatever knobs its points were given.
[[nodiscard]] std::vector<Column> common_columns();
/// The common columns, and one for each other knob that a point of the selections has.
[[nodiscard]] std::vector<Column> columns_for(std::span<const Selection> selections);
[[nodiscard]] bool is_column(const std::vector<Column>& columns, std::string_view name);

/// A point that never got as far as a kernel still has its row.
void for_each_row(const Selection& selection, const std::function<void(const Row&)>& visit);

}  // namespace attnscope::exchange
