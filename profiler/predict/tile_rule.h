// SPDX-License-Identifier: Apache-2.0
// Tiles picked by a rule: the feasible tile nearest to an infeasible one, and the paper's tile for a given M.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/io_model.h"

namespace attnscope::analysis {

/// Largest tile side considered; sides are multiples of 16, the rows of the matrix instruction.
inline constexpr int tile_side_limit = 512;

/// Returns the feasible tile with the smallest tile_distance(); of equally near ones, the larger. Considers the sides
/// that the algorithm supports, else multiples of 16. Keeps knobs, except those chosen with the tile. Empty if no tile
/// is feasible.
[[nodiscard]] std::optional<Config> nearest_tile(const Algorithm&, const AttentionProblem&, const Config&,
                                                 const DeviceLimits&);
/// Euclidean distance in (ln Br, ln Bc): halving a side is as far as doubling it.
[[nodiscard]] double tile_distance(const TileShape&, const TileShape&);

/// Returns the tiles that sweeps use: the sides that the algorithm supports, else the usual ones. Keeps the knobs of
/// `config`, except those chosen with the tile.
[[nodiscard]] std::vector<Config> usual_tiles(const Algorithm&, const Config& config);

/// Returns the tiles around one, without itself, nearest first: up to `steps` supported (else usual) sides up and down
/// on each axis.
[[nodiscard]] std::vector<TileShape> tiles_around(const Facts&, const TileShape&, int steps);

/// The paper's tile for a block with M of shared memory (arXiv 2205.14135v2, Algorithm 1, line 1): ceil(M / 4d) on the
/// side that divides the traffic, min(ceil(M / 4d), d) on the other.
struct RuleTile {
  TileSide outer = TileSide::none;  ///< side of size ceil(M / 4d)
  std::int64_t m_bytes = 0;
  TileShape asked;  ///< unrounded result of the rule
  /// feasible within M: the rule's tile rounded to 16, with a smaller outer side if needed
  std::optional<Config> config;
  /// No larger M, up to the device limit, changes the tile.
  bool unchanged_by_larger_m = false;
  /// Why a larger tile of the rule is infeasible although shared memory suffices.
  std::optional<Refusal> limiting_refusal;
};
/// Empty for an algorithm whose traffic depends on no tile side; the rule does not apply. Keeps the knobs of `config`,
/// except those chosen with the tile.
[[nodiscard]] std::optional<RuleTile> paper_rule_tile(const Algorithm&, const AttentionProblem&, const Config& config,
                                                      const DeviceLimits&, std::int64_t m_bytes);

}  // namespace attnscope::analysis
