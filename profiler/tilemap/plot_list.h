// SPDX-License-Identifier: Apache-2.0
// Which plots points have: every problem's curves, and every map of tiles.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"
#include "profiler/points/problem_filter.h"
#include "profiler/tilemap/tile_choice.h"

namespace attnscope::analysis {

/// What narrows points to the problem of curves over N.
[[nodiscard]] ProblemFilter curve_filter();
/// The same for a map of tiles.
[[nodiscard]] ProblemFilter map_filter(const Algorithms& = Algorithms::known());

/// "io", "time", "tflops": the beginning of file names.
[[nodiscard]] std::string_view to_string(Ordinate);
/// "io-d128-causal-1x16": what a file of curves is called, without its ending.
[[nodiscard]] std::string curve_stem(Ordinate, const ProblemFilter&, const TileSelection&);
/// "tiles-fa2-n4096-d128-1x16-time_median_ns"
[[nodiscard]] std::string map_stem(const ProblemFilter&, std::string_view metric);

/// Curves of bytes, time and rate over N, and maps of tiles.
enum class PlotKind { bytes, time, rate, maps };
struct Plot {
  PlotKind kind = PlotKind::bytes;
  std::string stem;
  ProblemFilter filter;  ///< stands on the problem: its rows() are what is drawn
  TileSelection tile;    ///< of curves
  std::string metric;    ///< of a map: its key

  [[nodiscard]] Ordinate ordinate() const;
};

/// Of each problem the curves that its points have something to show on, each number of splits by itself where it was
/// swept over them; none of a problem with but one N whose tiles make a map. Of each problem, algorithm and device that
/// was swept over tiles the maps of time, SM<->L2 and DRAM bytes.
[[nodiscard]] std::vector<Plot> plan_plots(const PointTable&);
/// Whether the points have but one N and some algorithm's tiles make a map: a curve says nothing of them.
[[nodiscard]] bool only_a_tile_map(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis
