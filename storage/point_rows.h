// SPDX-License-Identifier: Apache-2.0
// Points as rows: which columns, and what is written to and read from them. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>
#include <string_view>

#include "profiler/metrics/point.h"
#include "storage/rows.h"

namespace attnscope {

/// The columns of `points` from "algorithm" to "wall_seconds", each with `prefix` before its name.
[[nodiscard]] std::string point_columns(std::string_view prefix = {});
[[nodiscard]] int point_column_count();
void bind_point(Binder&, const PointRecord&);
/// Of point_columns().
[[nodiscard]] PointRecord read_point(Reader&);

}  // namespace attnscope
