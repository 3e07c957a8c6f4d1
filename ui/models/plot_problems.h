// SPDX-License-Identifier: GPL-3.0-or-later
// Which problems the plots show, one at a time, and what their pictures are called. No widgets: values in, values out.
#pragma once

#include <QString>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/models/problem_filter.h"

namespace attnscope::ui {

/// What narrows points to the problem of a plot over N.
[[nodiscard]] ProblemFilter make_curve_filter();
/// The same for a map of tiles.
[[nodiscard]] ProblemFilter make_tile_filter();

/// "io-d128-causal-1x16": the name of a picture of curves, without its ending.
[[nodiscard]] QString curve_stem(Ordinate ordinate, const ProblemFilter& filter, const TileSelection& tile);
/// "tiles-fa2-n4096-d128-1x16-time_median_ns"
[[nodiscard]] QString tile_stem(const ProblemFilter& filter, std::string_view metric);

/// The points of problems that were swept over enough tiles for a map.
[[nodiscard]] std::vector<ShownPoint> swept_points(const std::vector<ShownPoint>& points);
/// Whether the points of a problem have but one N and their tiles make a map: a curve says nothing of them.
[[nodiscard]] bool only_a_tile_map(const std::vector<ShownPoint>& points);

}  // namespace attnscope::ui
