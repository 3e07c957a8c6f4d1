// SPDX-License-Identifier: Apache-2.0
// Errors of predicted DRAM bytes, times and ratios of two tiles' times, against measured points. The tiles of one
// problem are one problem: a map of 300 tiles must not outvote 50 curves, so each problem counts once, with the median
// over its points.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/metrics/point.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// Under what name points are judged: "fa3", and "fa3 fp8", as 8 bits say nothing of 16.
[[nodiscard]] std::string judged_as(std::string_view algorithm, DType dtype);

/// A measured point and what was predicted of it, both with their own values. The records have to outlive it.
struct PredictedPoint {
  const PointRecord* measured = nullptr;
  const PointRecord* predicted = nullptr;
  std::string device = {};  ///< that measured it, by a name that no other has: a problem on two GPUs is two problems
  std::string run = {};     ///< that measured it, by a name that no other has
};

/// Parameters of a model are fitted to the points of one half of the problems, and judged on the other.
enum class Half { fitted, held_out };

/// "fitted", "held out".
[[nodiscard]] std::string_view to_string(Half);
/// By a hash of the problem, whatever algorithm, tile and knobs it ran with: all points of a problem are in one half.
[[nodiscard]] Half half_of(const PointSpec&);

/// Relative errors |predicted / measured - 1| of one algorithm, pass, half and quantity.
struct ErrorRow {
  std::string algorithm;  ///< judged_as(), or "all"
  std::string pass;       ///< or "all"
  std::string half;       ///< "fitted", "held out", or "both"
  /// "dram_bytes" (settled, of points that move more than `least_dram_bytes`), "time" (medians), or "tile_ratio" (of
  /// two tiles' times, in problems with at least `least_tiles` of them: errors that all tiles share cancel).
  std::string quantity;
  std::size_t points = 0;  ///< of tile_ratio: pairs of tiles
  std::size_t problems = 0;
  double median = 0;  ///< over problems, of each the median over its points
  double p95 = 0;     ///< over problems, likewise; of tile_ratio that of the problem with the largest
};

/// Below it, the bytes are those of the beginning and the end, which no tile decides.
inline constexpr double least_dram_bytes = 64.0 * 1024 * 1024;
inline constexpr std::size_t least_tiles = 12;

/// By quantity: a row for each algorithm, pass and half, then the sums over all. A point that lacks a value on one of
/// the sides is in no row of that quantity.
[[nodiscard]] std::vector<ErrorRow> prediction_errors(std::span<const PredictedPoint>);

/// `people`: with titles and percentages; else with the words and numbers that programs read.
[[nodiscard]] Table error_table(std::vector<ErrorRow>, bool people);

}  // namespace attnscope::analysis
