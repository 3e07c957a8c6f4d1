// SPDX-License-Identifier: Apache-2.0
// Exports points as CSV or JSON (one row per point and kernel) or as long CSV (one row per value), in base units.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

#include "storage/run_store.h"

namespace attnscope {

/// Ids of the exported points of the selected runs; nullopt: all.
using ExportedPoints = std::optional<std::vector<std::int64_t>>;

// `runs` empty: all runs. Throw FileError for an unknown run.

/// Writes a header row, then one row per point and kernel: RFC 4180 quoting, LF line ends, absent values empty.
/// Columns: the fixed ones, then origin columns, then other stored metrics by name. If a point has several rounds, its
/// rows have an empty `round` and are followed by one row per round and kernel.
void export_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&, const ExportedPoints& = {});

/// Writes one row per value. Columns: run_uid, plan_index, device; the point's fields; knobs that any exported point or
/// its algorithm has (empty if not applicable); disposition, reason, throttled; kernel (empty: whole point), metric,
/// value, unit, provenance; quartiles q1 and q3 and the number of samples of a time or rate; round, samples_ns. Values
/// are all metrics of the metrics table that the point has, stored or derived, in the table's order, then counters
/// requested by name, then point_facts(). A point without values has one row with empty metric and value.
void export_long_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&, const ExportedPoints& = {});

/// Version of the JSON documents that the program writes and imports.
inline constexpr int json_version = 2;
inline constexpr const char* export_format = "attnscope-export";

/// {"format":"attnscope-export","version":2,"created_at":...,"devices":[...],"environments":[...],"runs":[{...,"argv":[...]}],"points":[{...}]};
/// Points have the columns of the CSV, null for absent values, plus "metrics" (stored numbers with unit and provenance)
/// and "samples_ns". "ceilings" is included if all runs are exported.
void export_json(const RunStore&, std::span<const std::int64_t> runs, std::ostream&, const ExportedPoints& = {});

}  // namespace attnscope
