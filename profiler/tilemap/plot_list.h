// SPDX-License-Identifier: Apache-2.0
// Lists the plots that points have: curves of every problem, and tile maps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"
#include "profiler/points/problem_filter.h"
#include "profiler/tilemap/tile_selection.h"

namespace attnscope::analysis {

[[nodiscard]] ProblemFilter curve_filter();
[[nodiscard]] ProblemFilter map_filter();

/// Returns "io", "time" or "tflops", the prefix of file names.
[[nodiscard]] std::string_view to_string(Ordinate);
/// Returns the file name of curves without extension: "io-d128-causal-1x16".
[[nodiscard]] std::string curve_stem(Ordinate, const ProblemFilter&, const TileSelection&);
/// Returns for example "tiles-fa2-n4096-d128-1x16-time_median_ns".
[[nodiscard]] std::string map_stem(const ProblemFilter&, std::string_view metric);

enum class PlotKind { bytes, time, rate, maps };
struct Plot {
  PlotKind kind = PlotKind::bytes;
  std::string stem;
  ProblemFilter filter;  ///< selects the problem; rows() are the points to draw
  TileSelection tile;
  std::string metric;  ///< metric key, for maps

  [[nodiscard]] Ordinate ordinate() const;
};

/// Returns all plots. Curves: per problem, those with values; one set per number of splits if splits were swept; none
/// if the problem has one N and its tiles form a map. Maps: time, SM<->L2 and DRAM bytes per problem, algorithm and
/// device with a tile sweep.
[[nodiscard]] std::vector<Plot> plan_plots(const PointTable&);
/// Returns whether the points have only one N and the tiles of an algorithm form a map.
[[nodiscard]] bool is_tile_map_only(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis
