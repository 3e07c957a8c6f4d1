// SPDX-License-Identifier: Apache-2.0
// Maps of points over two axes: Br x Bc of one problem, algorithm and device, or any other pair. All other fields are
// constant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/io_model.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/point_spec.h"
#include "profiler/points/facets.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

inline constexpr std::size_t min_map_tiles = 4;
/// Relative distance from the best value within which tiles belong to the plateau.
inline constexpr double plateau_share = 0.03;
/// Preset of runs by `attnscope collect --serve`: single points requested from the tile explorer.
inline constexpr std::string_view explorer_preset = "explore";

struct MapLayout {
  PointAxis x;
  PointAxis y;

  [[nodiscard]] bool covers_field(std::string_view name) const { return x.covers_field(name) || y.covers_field(name); }
  /// Returns whether all cells have the same problem.
  [[nodiscard]] bool has_one_problem() const;
};
[[nodiscard]] const MapLayout& tile_layout();
/// Returns the facets that must be fixed for one map of this layout. If no axis sets the tile, neither tile nor knobs
/// are facets: each cell uses its fastest tile.
[[nodiscard]] std::vector<FacetPtr> fixed_facets(const MapLayout&);
void remove_tile_facets(std::vector<FacetPtr>&);

struct MapRequest {
  MapLayout layout = tile_layout();
  ValueSelection shown;
};

struct TileCell {
  std::optional<double> value;  ///< in the map's unit
  std::optional<double> own;    ///< the metric itself, if `value` is a comparison
  std::optional<double> over;   ///< the divisor, if `value` is a comparison
  /// Quartiles of the samples, or the count spread of a hardware counter; equal to `value` if unknown.
  double low = 0;
  double high = 0;
  Provenance provenance = Provenance::measured;
  std::optional<Disposition> disposition;  ///< empty if no point was collected
  int repeats = 0;                         ///< measurements of this tile in one run; the median one is shown
  bool unusual_clock = false;              ///< is_throttling_unusual(), and the metric depends on the clock
  Row row = 0;                             ///< valid if `disposition` is set
  bool again = false;                      ///< from an explorer run, and replaces another run's value
};

struct MapAxis {
  PointAxis axis;
  std::vector<FacetValue> values;  ///< ascending

  [[nodiscard]] std::size_t size() const { return values.size(); }
};

struct TileMap {
  ValueSelection shown;
  std::string metric;
  std::string unit;                          ///< unit of the cells' values: "percent" for a share, "1" for a ratio
  MapAxis y;                                 ///< rows
  MapAxis x;                                 ///< columns
  std::vector<std::vector<TileCell>> cells;  ///< [row][column]
  std::optional<double> minimum;
  std::optional<double> maximum;
  /// Typical width of a cell's interval (median of interquartile ranges or count spreads); empty if values do not
  /// scatter.
  std::optional<double> spread;
  /// The range of values does not exceed `spread`, so colors would show noise.
  bool flat = false;

  struct Place {
    int row = 0;
    int column = 0;
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): false positive
  };
  BetterDirection better = BetterDirection::neither;  ///< direction of the metric in which values are better
  /// The best tile by the metric (the fastest in a tie), then all tiles within its interval. Empty if the metric has no
  /// better direction, all values are equal, or the map is flat.
  std::vector<Place> best;
  /// `best` of the map of times, regardless of the metric shown. Empty if the cells have different problems.
  std::vector<Place> fastest;
  /// Cells within plateau_share of the best value, including the best; empty if `best` is.
  std::vector<Place> plateau;
  int collected = 0;
  int ok = 0;
  std::vector<RunIndex> shown_runs;  ///< newest first
  std::vector<RunIndex> hidden;      ///< runs that newer ones cover, newest first

  [[nodiscard]] bool empty() const { return cells.empty(); }
  /// Returns whether the plateau has tiles that are not marked as best.
  [[nodiscard]] bool has_plateau() const;
  /// Returns all places, row by row.
  [[nodiscard]] std::vector<Place> places() const;
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] std::optional<Place> index_of(Row point) const;
  [[nodiscard]] const TileCell& at(Place place) const {
    return cells[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
  }
};

/// Returns whether the cells show times of one problem, which are compared with the fastest.
[[nodiscard]] bool has_slowdowns(const TileMap&);
/// Ratio to the fastest time, at least 1. Pre: has_slowdowns(), and `value` is a cell's.
[[nodiscard]] double slowdown(const TileMap&, double value);
/// "+5.1%", "+24%", "2.3×"; "0%" for the fastest.
[[nodiscard]] std::string slowdown_text(double slowdown);
/// The fastest cell, and the fastest one slower by more than plateau_share.
struct FastestTiles {
  TileMap::Place fastest;
  std::optional<TileMap::Place> next = std::nullopt;
  std::size_t timed = 0;  ///< cells with a time
};
/// Pre: has_slowdowns().
[[nodiscard]] FastestTiles fastest_tiles(const TileMap&);
/// "128 × 64", or "warps 4 × stages 2" for axes other than the tile.
[[nodiscard]] std::string place_text(const TileMap&, TileMap::Place);
/// "Fastest: 128 × 128, 208 µs. Next beyond 3%: 256 × 320, +5.1%."; empty without slowdowns.
[[nodiscard]] Message headline(const TileMap&);
/// Names the runs that are shown, and those that newer runs hide; empty if the table has one run.
[[nodiscard]] Message runs_text(const PointTable&, const TileMap&);

/// Builds a map. `rows` must agree in all fields that are not on an axis (fixed_facets()); rows without a value on an
/// axis are ignored. The newest run with enough tiles for a map leads; runs without common cells are added; points of
/// explorer runs (explorer_preset) replace others; other runs are hidden.
[[nodiscard]] TileMap build_map(const PointTable&, std::span<const Row> rows, const MapRequest&);
/// Builds a Br x Bc map of a metric. `rows` are of one problem, algorithm and device (map_facets()).
[[nodiscard]] TileMap build_tile_map(const PointTable&, std::span<const Row> rows, std::string_view metric);

/// Builds the map of times that has this point: its problem, algorithm and device. Without its cell, because a newer
/// run replaces it, only the point's own run. Empty if the point has no tile.
[[nodiscard]] TileMap build_map_around(const PointTable&, Row);

/// Returns the rows that belong to maps of this layout.
[[nodiscard]] std::vector<Row> swept_rows(const PointTable&, std::span<const Row> rows,
                                          const MapLayout& = tile_layout());
[[nodiscard]] std::vector<PointAxis> varying_axes(const PointTable&, std::span<const Row> rows);

/// Returns the point of a cell: the collected one, or one composed from other points of its row and column. Returns
/// nullopt if an axis is not a field or knob, or if the algorithm is unknown.
[[nodiscard]] std::optional<PointSpec> point_of(const PointTable&, const TileMap&, TileMap::Place);

}  // namespace attnscope::analysis
