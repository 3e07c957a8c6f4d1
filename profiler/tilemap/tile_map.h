// SPDX-License-Identifier: Apache-2.0
// Points that have all but two things in common, laid out by those: Br x Bc of one problem, algorithm and device, or
// any other two axes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/io_model.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Fewer tiles than this make a table, not a map.
inline constexpr std::size_t fewest_tiles_of_a_map = 4;
/// What lies that near to the best, of its value, is as good a choice: the plateau around it.
inline constexpr double plateau_share = 0.03;
/// What runs of `attnscope collect --serve` are filed under: points asked for one by one, in a map's place.
inline constexpr std::string_view explored_preset = "explore";

/// What stands on the axes of a map.
struct MapLayout {
  PointAxis x;  ///< of the columns
  PointAxis y;  ///< of the rows

  [[nodiscard]] bool speaks_for(std::string_view name) const { return x.speaks_for(name) || y.speaks_for(name); }
  /// Whether all cells do the same work: the problem is none of the axes.
  [[nodiscard]] bool same_work() const;
};
/// Br over Bc.
[[nodiscard]] const MapLayout& tile_layout();
/// What narrows points to one map of that layout. Where no axis says the tile, neither it nor a knob does: at each
/// place the fastest of those given stands for its algorithm.
[[nodiscard]] std::vector<FacetPtr> facets_beside(const MapLayout&, const Algorithms& = Algorithms::known());

struct MapRequest {
  MapLayout layout = tile_layout();
  Quantified shown;
};

struct TileCell {
  std::optional<double> value;  ///< in the map's unit
  std::optional<double> own;    ///< with a value that is a comparison: the metric itself, in its unit
  std::optional<double> over;   ///< with a value that is a comparison: what it was divided by
  double low = 0;   ///< with a value: how far its samples scatter, lowest and highest quartile, or a counter
  double high = 0;  ///< counted once; the value itself where it does neither
  Provenance provenance = Provenance::measured;
  std::optional<Disposition> disposition;  ///< empty: no point was collected for this tile
  int repeats = 0;                         ///< values of this tile in one run; the median one stands for them
  bool throttled = false;                  ///< the GPU slowed its clocks, and the metric shown follows them
  Row row = 0;                             ///< set when disposition is
  bool again = false;                      ///< of a run of points asked for one by one, in place of another's
};

/// A run whose points the map does not show, since a newer one has the same tiles.
struct HiddenRun {
  RunIndex run = 0;
  int points = 0;
};

/// One side of a map.
struct MapAxis {
  PointAxis axis;
  std::vector<FacetValue> values;  ///< ascending

  [[nodiscard]] std::size_t size() const { return values.size(); }
  /// The place of a number, or of a value by its id; -1 where it is none.
  [[nodiscard]] int place_of(double number) const;
  [[nodiscard]] int place_of(std::string_view id) const;
};

struct TileMap {
  Quantified shown;
  std::string metric;                        ///< shown.metric
  std::string unit;                          ///< of the cells' values: "percent" of a share, "1" of a ratio
  MapAxis y;                                 ///< rows
  MapAxis x;                                 ///< columns
  std::vector<std::vector<TileCell>> cells;  ///< [row][column]
  std::optional<double> minimum;
  std::optional<double> maximum;
  /// Half of the samples of the typical cell, or two counts of its launch, lie in an interval this wide; empty where
  /// values do not scatter.
  std::optional<double> spread;
  /// The values differ by no more than their spread: there is nothing for colours to show.
  bool flat = false;

  struct Place {
    int row = 0;
    int column = 0;
    bool operator==(const Place&) const = default;
  };
  Better better = Better::neither;  ///< which end of the metric's values is the better one
  /// The tile that the metric speaks for (the least bytes, the highest occupancy; of several with that very value, the
  /// fastest), then every tile whose value lies within its interval. None where the metric has no better end, all
  /// values are the same, or the map is flat.
  std::vector<Place> best;
  /// The tile of the shortest median time, whatever the metric shown, then every tile within its interval. None where
  /// all times differ by no more than they scatter.
  std::vector<Place> fastest;
  /// All whose value lies within plateau_share of the best one's, the best among them; none where there is no best.
  std::vector<Place> plateau;
  int collected = 0;
  int ok = 0;
  std::vector<RunIndex> shown_runs;  ///< the newest first
  std::vector<HiddenRun> hidden;     ///< the newest first

  [[nodiscard]] bool empty() const { return cells.empty(); }
  /// Rows of the points in the cells.
  [[nodiscard]] std::vector<Row> rows() const;
  /// The cell that shows this point.
  [[nodiscard]] std::optional<Place> place_of(Row point) const;
  [[nodiscard]] const TileCell& at(Place place) const {
    return cells[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
  }
};

/// `rows` have all in common that the axes do not say (facets_beside()); those that do not state a value of an axis are
/// left out. The newest run that makes a map of its own leads; runs that have none of its places stand beside it;
/// points that were asked for one by one (explored_preset) take the place of others'; other runs are hidden.
[[nodiscard]] TileMap build_map(const PointTable&, std::span<const Row> rows, const MapRequest&);
/// Br x Bc, the metric itself: `rows` are of one problem, algorithm and device (map_facets()).
[[nodiscard]] TileMap build_tile_map(const PointTable&, std::span<const Row> rows, std::string_view metric);

/// The rows of which maps of that layout are made: by a run of its own, or by several on one device together.
[[nodiscard]] std::vector<Row> swept_rows(const PointTable&, std::span<const Row> rows,
                                          const MapLayout& = tile_layout());
/// The axes that have two values or more among these rows: what a map can be laid out by.
[[nodiscard]] std::vector<PointAxis> varying_axes(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis
