// SPDX-License-Identifier: Apache-2.0
// Selects the tiles of each side whose times are compared.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "profiler/compare/alignment.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

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
