// SPDX-License-Identifier: Apache-2.0
// Plots that points have, curves of every problem and tile maps, and the tile of an algorithm to plot if a sweep has
// several.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"
#include "profiler/points/problem_filter.h"

namespace attnscope::analysis {

enum class Ordinate { bytes, time, rate };
[[nodiscard]] bool has_value(const PointTable&, Row, Ordinate);
/// Returns whether the point has a value or failed.
[[nodiscard]] bool has_result(const PointTable&, Row, Ordinate);

/// Value of a knob that is swept together with N (Knob::separate_curves); 0 is the algorithm's default.
struct KnobValueChoice {
  std::string knob;
  std::int64_t value = 0;

  bool operator==(const KnobValueChoice&) const = default;
};

struct TileSelection {
  enum class Rule {
    widest,   ///< the tile that covers the most N
    fastest,  ///< the fastest tile at each N
    exact,
  };
  Rule rule = Rule::widest;
  Config tile = {};  ///< for Rule::exact
  /// For Rule::widest: use only points with this value, if the algorithm was swept over the knob.
  std::optional<KnobValueChoice> swept = std::nullopt;
};

using RowsByPlace = std::map<double, std::vector<Row>>;

/// Axis position of a row, and whether the row has a value.
struct Positioning {
  std::function<double(Row)> place;
  std::function<bool(Row)> has_value;
};
[[nodiscard]] Positioning position_by_length(const PointTable&, Ordinate);

/// Returns the rows to plot for one algorithm in one run, with one tile per position. Rule::widest ranks tiles by
/// positions covered in the run, then in `family` (rows of all runs in the plot), then by time; positions that the tile
/// does not cover use their fastest tile.
[[nodiscard]] RowsByPlace select_rows(const PointTable&, std::span<const Row> rows, std::span<const Row> family,
                                      const TileSelection&, const Positioning&);

/// Returns the distinct known tiles, sorted by the number of N that they cover, then by size.
[[nodiscard]] std::vector<Config> tiles_of(const PointTable&, std::span<const Row> rows);

/// Returns the values of such knobs in ascending order, if a problem was measured with several on one device.
[[nodiscard]] std::vector<KnobValueChoice> swept_knob_values(const PointTable&, std::span<const Row> rows);

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
