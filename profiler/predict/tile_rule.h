// SPDX-License-Identifier: Apache-2.0
// Tiles that are picked by a rule: the one next to a tile that does not run, and the paper's for a given M.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/io_model.h"

namespace attnscope::analysis {

/// Sides that are looked at: multiples of 16, the rows of the matrix instruction, up to this.
inline constexpr int most_tile_side = 512;

/// Of the tiles that run there, the one nearest by the Euclidean distance of (ln Br, ln Bc): half a side is as far as
/// twice of it. Of equally near ones the larger. Sides are those that the algorithm states, else multiples of 16. Knobs
/// stay, but those that are chosen with a tile. Nothing where no tile runs.
[[nodiscard]] std::optional<Config> nearest_tile(const Algorithm&, const AttentionProblem&, const Config&,
                                                 const DeviceLimits&);
/// Between those points.
[[nodiscard]] double tile_distance(const TileShape&, const TileShape&);

/// Tiles around one, itself left out, the nearest first: up to `steps` up and down on each axis of the sides that the
/// algorithm states, else of the usual ones.
[[nodiscard]] std::vector<TileShape> tiles_around(const Facts&, const TileShape&, int steps);

/// The tile that the paper's rule picks for a block with M of shared memory (arXiv 2205.14135v2, Algorithm 1, line 1),
/// by the loop order: of the side that the traffic is divided by, ceil(M / 4d); of the other one, at most d of it.
struct RuleTile {
  TileSide outer = TileSide::none;  ///< the side that is ceil(M / 4d)
  std::int64_t m_bytes = 0;
  TileShape asked;               ///< by the rule, unrounded
  std::optional<Config> config;  ///< that runs within M: the rule's in steps of 16, or less of the outer side
  /// Every larger M up to what the device gives a block picks this very tile.
  bool larger_changes_nothing = false;
  /// Why the rule's tile is not run, although the device has the shared memory for it.
  std::optional<Refusal> held_back;
};
/// Nothing for an algorithm whose traffic no side of a tile divides: the rule does not speak of it. `config`: its knobs
/// stay, but those that are chosen with a tile.
[[nodiscard]] std::optional<RuleTile> tile_of_m(const Algorithm&, const AttentionProblem&, const Config& config,
                                                const DeviceLimits&, std::int64_t m_bytes);

}  // namespace attnscope::analysis
