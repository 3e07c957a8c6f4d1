// SPDX-License-Identifier: Apache-2.0
// One row per point and kernel, as CSV or JSON, or one per value, in base units.
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

/// A header row, then one row per point and kernel; quoted as RFC 4180 has it, lines end in LF, absent values are empty
/// fields. The fixed columns come first, then where the row comes from, then every other stored metric by its name.
/// After the rows of a point of several rounds, whose `round` is empty, come those of each round.
/// `runs` empty: all of them.
void export_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);

/// What one of several files contributes.
struct ExportSource {
  const RunStore* store = nullptr;
  std::vector<std::int64_t> runs;                                  ///< empty: all of them
  std::optional<std::vector<std::int64_t>> points = std::nullopt;  ///< by id, of these runs; none given: all of them
};
struct ExportCount {
  std::size_t points = 0;
  std::size_t rows = 0;  ///< below the header
};
/// As above, source after source below one header row: a metric that any of them stored is a column of all.
ExportCount export_csv(std::span<const ExportSource>, std::ostream&);

/// One row a value: run_uid, plan_index and device say whose, then come the fields of the point, the knobs that a point
/// of the export was given or its algorithm states (empty where it has none of that name), disposition, reason and
/// throttled; then kernel (empty: the whole point), metric, value, unit and provenance, and with a time or a rate the
/// quartiles q1 and q3 of its samples and how many these are, round and samples_ns. Values are every metric of the
/// metrics table that the point has, stored or derived, in the table's order, counters asked for by name, and the
/// numbers of point_facts(). A point without any has one row that says so by what it leaves empty.
void export_long_csv(std::span<const ExportSource>, std::ostream&, const Registry& = known_algorithms());
void export_long_csv(const RunStore&, std::span<const std::int64_t> runs, std::ostream&,
                     const Registry& = known_algorithms());

/// Version of the JSON documents that the program writes; others are not imported.
inline constexpr int json_version = 2;
inline constexpr const char* export_format = "attnscope-export";
/// {"format":"attnscope-export","version":2,"created_at":...,"devices":[...],"environments":[...],"runs":[{...,"argv":[...]}],"points":[{...}]};
/// points as in the CSV, absent values null; beside them "metrics" (every stored number with unit and provenance) and
/// "samples_ns". Where all runs are asked for, "ceilings" too: a block a set, as it is stored.
void export_json(const RunStore&, std::span<const std::int64_t> runs, std::ostream&);
/// Of these points alone, where some are given.
void export_json(const ExportSource&, std::ostream&);

}  // namespace attnscope
