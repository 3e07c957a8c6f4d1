// SPDX-License-Identifier: Apache-2.0
// Which plots points have: every problem's curves, and every map of tiles.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/point_table.h"
#include "profiler/analysis/tile_choice.h"

namespace attnscope::analysis {

/// Values by their fields' keys, for the fields that leave a choice, in the order in which they are chosen.
using Choices = std::vector<std::pair<std::string, std::string>>;

struct CurvePlot {
  Choices choices;
  std::optional<int> splits;  ///< where the problem was swept over splits: these
  Ordinate ordinate = Ordinate::bytes;
};
struct MapPlot {
  Choices choices;
  std::string metric;
};

/// Of each problem bytes, or times where no point has bytes, and TFLOP/s beside what was imported. No curves of a
/// problem with but one N whose tiles make a map.
[[nodiscard]] std::vector<CurvePlot> curve_plots(const PointTable&);
/// Of each problem, algorithm and device that was swept over tiles: time, SM<->L2 and DRAM bytes, where it has them.
[[nodiscard]] std::vector<MapPlot> map_plots(const PointTable&);

/// Whether the points have but one N and some algorithm's tiles make a map: a curve says nothing of them.
[[nodiscard]] bool only_a_tile_map(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis
