// SPDX-License-Identifier: Apache-2.0
// One row per point and kernel, as CSV or JSON, in base units.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include "storage/run_store.h"

namespace attnscope {

/// A header row, then one row per point and kernel; quoted as RFC 4180 has it, lines end in LF, absent values are empty
/// fields. The fixed columns come first, then where the row comes from, then every other stored metric by its name.
/// `runs` empty: all of them.
void export_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);

/// What one of several files contributes.
struct ExportSource {
  const RunStore* store = nullptr;
  std::vector<std::int64_t> runs;  ///< empty: all of them
};
/// As above, source after source below one header row: a metric that any of them stored is a column of all.
void export_csv(std::span<const ExportSource>, std::ostream&);

/// {"schema_version":1,"created_at":...,"devices":[...],"environments":[...],"runs":[{...,"argv":[...]}],"points":[{...}]};
/// points as in the CSV, absent values null; beside them "metrics" (every stored number with unit and provenance) and
/// "samples_ns".
void export_json(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);

/// The fixed columns in order.
[[nodiscard]] std::span<const std::string_view> export_columns();

}  // namespace attnscope
