// SPDX-License-Identifier: Apache-2.0
// The columns that say which point a table's row is about.
#pragma once

#include <string>
#include <vector>

#include "app/table.h"
#include "profiler/metrics/point.h"

namespace attnscope {

/// Problem and tile, without the algorithm.
[[nodiscard]] std::vector<TableColumn> point_columns();
/// A row's fields below them; for people the mask's title, for programs its word.
[[nodiscard]] std::vector<std::string> point_fields(const PointSpec&, bool people);

/// For people: without those of the columns above that say in every row what goes without saying (pass fwd, dropout 0,
/// ...).
[[nodiscard]] Table without_defaults(const Table&);

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace attnscope
