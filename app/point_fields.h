// SPDX-License-Identifier: Apache-2.0
// The columns that say which point a table's row is about.
#pragma once

#include <string>
#include <vector>

#include "app/table.h"
#include "kernels/registry.h"
#include "profiler/metrics/point.h"

namespace attnscope {

/// Problem, tile and knobs: every field and knob but the algorithm and the state of the cache.
[[nodiscard]] std::vector<TableColumn> point_columns(const Registry&);
/// A row's fields below them.
[[nodiscard]] std::vector<std::string> point_texts(const PointSpec&, const Registry&);

/// For people: without those of the columns above that say in every row what goes without saying (pass fwd, dropout 0,
/// ...).
[[nodiscard]] Table without_defaults(const Table&, const Registry&);

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace attnscope
