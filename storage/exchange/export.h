// SPDX-License-Identifier: Apache-2.0
// Exports points as CSV or JSON (one row per point and kernel) or as long CSV (one row per value), in base units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

#include "kernels/registry.h"
#include "storage/run_store.h"

namespace attnscope {

/// Writes a header row, then one row per point and kernel: RFC 4180 quoting, LF line ends, absent values empty.
/// Columns: the fixed ones, then origin columns, then other stored metrics by name. If a point has several rounds, its
/// rows have an empty `round` and are followed by one row per round and kernel.
/// `runs` empty: all runs.
void export_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);

struct ExportSource {
  const RunStore* store = nullptr;
  std::vector<std::int64_t> runs;                                  ///< empty: all
  std::optional<std::vector<std::int64_t>> points = std::nullopt;  ///< ids of points of these runs; nullopt: all
};
struct ExportCount {
  std::size_t points = 0;
  std::size_t rows = 0;  ///< without the header
};
/// Writes all sources below one header row. A metric that any point has is a column for all.
ExportCount export_csv(std::span<const ExportSource>, std::ostream&);

/// Writes one row per value. Columns: run_uid, plan_index, device; the point's fields; knobs that any exported point or
/// its algorithm has (empty if not applicable); disposition, reason, throttled; kernel (empty: whole point), metric,
/// value, unit, provenance; quartiles q1 and q3 and the number of samples of a time or rate; round, samples_ns. Values
/// are all metrics of the metrics table that the point has, stored or derived, in the table's order, then counters
/// requested by name, then point_facts(). A point without values has one row with empty metric and value.
void export_long_csv(std::span<const ExportSource>, std::ostream&, const Registry& = known_algorithms());
void export_long_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&,
                     const Registry& = known_algorithms());

/// Version of the JSON documents that the program writes and imports.
inline constexpr int json_version = 2;
inline constexpr const char* export_format = "attnscope-export";
/// {"format":"attnscope-export","version":2,"created_at":...,"devices":[...],"environments":[...],"runs":[{...,"argv":[...]}],"points":[{...}]};
/// Points have the columns of the CSV, null for absent values, plus "metrics" (stored numbers with unit and provenance)
/// and "samples_ns". "ceilings" is included if all runs are exported.
void export_json(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);
/// Exports only the source's points, if given.
void export_json(const ExportSource&, std::ostream&);

}  // namespace attnscope
