// SPDX-License-Identifier: Apache-2.0
// Points as rows: which columns, and what is written to and read from them. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "profiler/metrics/point.h"
#include "storage/digest.h"
#include "storage/rows.h"

namespace attnscope {

/// The columns of `points` that say what was asked and what came of it, from "algorithm" on; recorded_at is not among
/// them.
[[nodiscard]] std::string point_columns();
[[nodiscard]] int point_column_count();
void bind_point(Binder&, const PointRecord&);
[[nodiscard]] StoredReason stored_reason(const PointRecord&);

/// What to SELECT for point_columns() from table p of a file of schema `version`: files are read as they are.
[[nodiscard]] std::string point_values(int version);
/// What follows them in files that had knobs as columns: empty since schema 3.
[[nodiscard]] std::string old_knob_values(int version);
/// `stored`: the reason as the row has it, which this program's catalogue may put in other words.
[[nodiscard]] PointRecord read_point(Reader&, StoredReason& stored);
/// The knobs of old_knob_values(), and the name of the kernel that ran on a device of these limits.
void read_old_point(Reader&, int version, const DeviceLimits&, PointRecord&);

}  // namespace attnscope
