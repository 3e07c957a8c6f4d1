// SPDX-License-Identifier: Apache-2.0
// Alignment of two sides of a comparison: the fields, knobs and device by which points are matched, and the tiles whose
// times are compared.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Tiles (with their knobs) whose rows are compared.
enum class ComparedTiles {
  any,        ///< all; unequal tiles may match unless the alignment has the tile
  equal,      ///< rows match only with equal tiles
  best,       ///< each side's fastest tile of a problem
  automatic,  ///< each side's tile from auto_config()
};
[[nodiscard]] std::string_view to_string(ComparedTiles);
/// The values that a user can choose.
inline constexpr std::array tile_choices{ComparedTiles::best, ComparedTiles::automatic, ComparedTiles::equal};
/// Returns nullopt for other texts than those of `tile_choices`.
[[nodiscard]] std::optional<ComparedTiles> parse_compared_tiles(std::string_view);

struct Alignment {
  std::vector<std::string> fields;  ///< names of point fields
  std::vector<std::string> knobs;
  bool all_knobs = false;
  bool device = false;  ///< matched by device name
  ComparedTiles tiles = ComparedTiles::any;

  /// Returns the alignment as keywords: "problem", "tile", "knobs", "device", and names of single fields and knobs.
  [[nodiscard]] std::vector<std::string> keywords() const;
};

/// Parses an alignment. `words`: names of fields and knobs, or "N", "problem" (all fields except algorithm and tile;
/// without the L2's state if exactly one side does not state it), "tile", "knobs", "device". All problem fields are
/// used if none is named. If `words` is empty: the problem, and each of algorithm and device for which both sides share
/// a value. `tiles`: by default the best ones if the sides share no GPU model; else, if `words` is empty, equal tiles
/// if both sides share one, with equal knobs if they share those, or the best ones. The error names the unknown
/// keyword, or the tile in `words` that contradicts `tiles`.
[[nodiscard]] Result<Alignment, Message> parse_alignment(std::span<const std::string> words, const PointTable&,
                                                         std::span<const Row> base, std::span<const Row> other,
                                                         std::optional<ComparedTiles> tiles = {});

/// Returns the alignment of two halves of one set of points: the fields, knobs and device that take the same set of
/// values on both sides.
[[nodiscard]] Alignment infer_alignment(const PointTable&, std::span<const Row> base, std::span<const Row> other);

/// Names of all fields except the tile's.
[[nodiscard]] std::vector<std::string> fields_without_tile(const PointTable&);

/// Selects tiles among the rows of one problem and side. The table must outlive it.
class TileSelector {
 public:
  TileSelector(const PointTable&, ComparedTiles, std::span<const Row> base, std::span<const Row> other);

  [[nodiscard]] ComparedTiles tiles() const { return tiles_; }
  /// ComparedTiles::automatic: the rows with the automatic tile of the problem, else with that of the longest N of its
  /// curve, which sweeps use. Rows without a known tile count as automatic. Otherwise all rows.
  [[nodiscard]] std::vector<Row> candidates(std::span<const Row> rows) const;
  /// ComparedTiles::best: keeps the rows of the tile with the least median time and returns the number of tiles. Keeps
  /// all rows and returns 0 otherwise, or if they differ in more than the tile. Pre: all rows have a time.
  std::size_t keep_best(std::vector<Row>& rows) const;

 private:
  [[nodiscard]] bool differ_only_in_tile(std::span<const Row> rows) const;

  const PointTable& table_;
  ComparedTiles tiles_;
  std::unordered_map<Row, Row> longest_;  ///< row with the longest N of a row's curve
};

}  // namespace attnscope::analysis
