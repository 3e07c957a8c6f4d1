// SPDX-License-Identifier: Apache-2.0
// Selects the tile programs that a lesson step replays, from its front matter.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/front_matter_reader.h"
#include "profiler/lesson/player.h"

namespace attnscope::analysis::lesson {

/// One setting that overrides the step's, from `play_also`, for example "bc=128". Names: n, br, bc, heads, m or l2 (in
/// KiB). 0: not overridden.
struct PlayerOverride {
  std::string label{};
  std::int64_t n = 0;
  std::int64_t br = 0;
  std::int64_t bc = 0;
  std::int64_t heads = 0;
  std::int64_t m = 0;  ///< elements of fp16; the tile follows the paper's rule
  std::int64_t l2 = 0;
};

/// The `play...` keys of a front matter.
struct PlayerSettings {
  std::vector<const Algorithm*> algorithms{};
  std::int64_t n = 512;
  std::int64_t d = 64;
  std::int64_t br = 64;
  std::int64_t bc = 64;
  std::int64_t heads = 1;
  std::int64_t l2 = 0;   ///< in KiB; 0: the GPU's
  std::int64_t sms = 0;  ///< SMs that execute blocks; 0: the GPU's
  Pass pass = Pass::fwd;
  std::vector<Mask> masks{Mask::none};
  std::vector<PlayerOverride> also{};
};
[[nodiscard]] PlayerSettings read_player_settings(FrontMatterReader&);

/// Creates a player with the requested tile, or the algorithm's default if infeasible. Halves N until the program has
/// at most `most` frames; nullopt if that is not possible.
[[nodiscard]] std::optional<TilePlayer> make_player(const PlayerSettings&, const Evidence&, const Algorithm&,
                                                    const Mask&, std::int64_t most, const PlayerOverride& = {});
[[nodiscard]] bool uses_requested_tile(const TilePlayer&, const PlayerOverride&);
/// Returns whether the player's N is shorter than requested because of the frame limit.
[[nodiscard]] bool uses_shorter_n(const PlayerSettings&, const TilePlayer&, const PlayerOverride&);
/// Tiles of S computed per round, as {row, column, rows, columns} in tiles; heads are stacked vertically.
struct PairRounds {
  std::int64_t rows = 0;  ///< 0 if no scores are computed
  std::int64_t cols = 0;
  std::vector<std::vector<std::array<std::int64_t, 4>>> rounds{};
};
[[nodiscard]] PairRounds pair_rounds(const TilePlayer&);

}  // namespace attnscope::analysis::lesson
