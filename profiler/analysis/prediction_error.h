// SPDX-License-Identifier: Apache-2.0
// How far predictions lie from what was measured: errors of DRAM bytes and of times, and whether the tiles of a problem
// come in the order of their times. The tiles of one problem are one problem: a map of 300 tiles must not outvote 50
// curves, so each problem counts once, with the median over its points.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/metrics/point.h"

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

/// Of the relative errors |predicted / measured - 1|.
struct ErrorFigures {
  std::size_t points = 0;
  std::size_t problems = 0;
  double median = 0;        ///< over problems, of each the median over its points
  double p95 = 0;           ///< over problems, of each the median over its points
  double worst_factor = 1;  ///< of a single point: predicted / measured or its inverse, whichever is larger
  double ratio = 1;         ///< median over problems of predicted / measured
};

/// The tiles of one problem on one device. Of runs that share a tile the one with the most tiles counts, and others
/// beside it that share none with it: what two runs timed is not ranked twice.
struct TileRanks {
  PointSpec problem;   ///< of any of its points: algorithm, problem and cache
  std::string device;  ///< PredictedPoint's
  Half half = Half::fitted;
  std::size_t tiles = 0;
  double spearman = 0;     ///< correlation of the ranks by time; ties share theirs
  double chosen_over = 1;  ///< measured time of the tile that is predicted to be the fastest, over that of the fastest
  ErrorFigures pairs;      ///< of the ratio of two of these tiles' times: what both are off by alike is not in it
};

/// Errors of one algorithm and pass in one half, or of several.
struct ErrorRow {
  std::string algorithm;             ///< empty: all
  std::optional<Pass> pass;          ///< none: all
  std::optional<Half> half;          ///< none: both
  std::optional<ErrorFigures> dram;  ///< of points that move more than `least_dram_bytes`
  std::optional<ErrorFigures> time;
  /// Of the ratio of two tiles' times, over problems with ranks; points are pairs, p95 is that of the problem with the
  /// largest, for few problems have maps.
  std::optional<ErrorFigures> tiles;
};

struct PredictionErrors {
  std::vector<ErrorRow> rows;    ///< a row for each algorithm, pass and half, then the sums over all
  std::vector<TileRanks> ranks;  ///< of problems with at least `least_tiles` tiles
  /// Points that move more than `least_dram_bytes` while they run, of which nobody counted what is written back later
  /// (warm starts, older runs): their bytes are not the settled ones that are predicted.
  std::size_t unsettled = 0;
};

/// Below it, the bytes are those of the beginning and the end, which no tile decides.
inline constexpr double least_dram_bytes = 64.0 * 1024 * 1024;
inline constexpr std::size_t least_tiles = 12;

/// DRAM bytes are `dram_settled_bytes`, times the medians. Points that lack a value on one of the sides are left out of
/// that column.
[[nodiscard]] PredictionErrors prediction_errors(std::span<const PredictedPoint>);

/// Linear interpolation between order statistics, as summarize() has it. Pre: values.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// Spearman's rank correlation; ties share the mean of their ranks. 0 where one of the two does not vary.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace attnscope::analysis
