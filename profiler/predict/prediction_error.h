// SPDX-License-Identifier: Apache-2.0
// Errors of predicted DRAM bytes, times and tile time ratios against measurements. Each problem counts once, with the
// median over its points; otherwise a map of 300 tiles would outvote 50 curves.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/metrics/point.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// Name under which errors are reported: "fa3", and "fa3 fp8" separately, because 8-bit and 16-bit kernels differ.
[[nodiscard]] std::string error_group(std::string_view algorithm, DType dtype);

/// A measured point and its prediction. The records must outlive it.
struct PredictedPoint {
  const PointRecord* measured = nullptr;
  const PointRecord* predicted = nullptr;
  std::string device = {};  ///< unique name of the measuring device; a problem on two GPUs counts as two
  std::string run = {};     ///< unique name of the measuring run
};

/// Split of the problems: model parameters are fitted on one half and evaluated on the other.
enum class Half { fitted, held_out };

[[nodiscard]] std::string_view to_string(Half);
/// Half of a point's problem, by a hash that ignores algorithm, tile and knobs.
[[nodiscard]] Half data_half_of(const PointSpec&);

/// Relative errors |predicted / measured - 1| of one algorithm, pass, half and quantity.
struct ErrorRow {
  std::string algorithm;  ///< see error_group(), or "all"
  std::string pass;       ///< name of a Pass, or "all"
  std::string half;       ///< "fitted", "held out", or "both"
  /// "dram_bytes" (settled, points above `least_dram_bytes`), "time" (medians), or "tile_ratio" (time ratios of tile
  /// pairs, in problems with at least `least_tiles` tiles; errors common to all tiles cancel).
  std::string quantity;
  std::size_t points = 0;  ///< for tile_ratio: pairs of tiles
  std::size_t problems = 0;
  double median = 0;  ///< over problems, of each problem's median over its points
  double p95 = 0;     ///< over problems, as `median`; for tile_ratio the maximum of the problems' p95
};

/// Smaller points are excluded: their bytes hardly depend on the tile.
inline constexpr double least_dram_bytes = 64.0 * 1024 * 1024;
inline constexpr std::size_t least_tiles = 12;

/// Rows by quantity: one per algorithm, pass and half, then the totals. Points without a measured or predicted value
/// are excluded from that quantity.
[[nodiscard]] std::vector<ErrorRow> prediction_errors(std::span<const PredictedPoint>);
/// Linear interpolation between order statistics. Pre: `values` is not empty.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// `people`: with titles and percentages; else with keys and raw numbers.
[[nodiscard]] Table error_table(std::vector<ErrorRow>, bool people);

}  // namespace attnscope::analysis
