// SPDX-License-Identifier: Apache-2.0
// Which tile programs a step of the lesson plays: algorithms, masks, tiles and knobs by its front matter.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/pairs.h"
#include "profiler/lesson/player.h"

namespace attnscope::analysis::lesson {

inline constexpr std::int64_t longest_played = 65536;
inline constexpr std::int64_t most_played_heads = 64;

/// What somebody chooses otherwise than the text does: 0 leaves the text's.
struct PlayChoice {
  std::int64_t n = 0;
  int br = 0;
  int bc = 0;
  std::int64_t l2_bytes = 0;
  int heads = 0;
  std::int64_t m_elements = 0;  ///< of fp16: the tile is the paper's rule's, of which br and bc change sides
  Knobs knobs{};                ///< each algorithm takes those that it states
};
/// The algorithm as the front matter's `play...` lines have it: with the tile that is asked for where it runs, else the
/// algorithm's own; of N halved until it has `most` frames at the most, or nothing.
[[nodiscard]] std::optional<TilePlayer> player_of(const Front&, const Evidence&, const Algorithm&, const Mask&,
                                                  std::size_t most, const PlayChoice& = {});
/// The algorithms that `play` names, and the masks of `play_masks`, or none; what there is not is left out.
[[nodiscard]] std::vector<const Algorithm*> played_algorithms(const Front&, const Registry&);
[[nodiscard]] std::vector<Mask> played_masks(const Front&);
/// `play_knobs`: those of its knobs that one of the algorithms states, in its order.
[[nodiscard]] std::vector<const Knob*> played_knobs(const Front&, const Registry&);
/// What is played beside the text's own, each a word of `play_also` as "bc=128", "m=16384", "heads=4,raster=...": n,
/// br, bc, heads, m, l2 (in KiB), or one of played_knobs(). What cannot be read is left out.
struct AlsoPlayed {
  std::string label{};  ///< "Bc 128"
  PlayChoice choice{};
};
[[nodiscard]] std::vector<AlsoPlayed> also_played(const Front&, const Registry&);
/// Each is played of every algorithm: what stands beyond these is left out, too.
inline constexpr std::size_t most_also_played = 8;
/// Words of `play_also` that also_played() leaves out.
[[nodiscard]] std::vector<std::string> unread_also(const Front&, const Registry&);
/// Whether the player has the tile that was asked for.
[[nodiscard]] bool plays_what_was_chosen(const TilePlayer&, const PlayChoice&);
/// Whether its N is shorter than what was asked for, since that has too many frames.
[[nodiscard]] bool plays_a_shorter_n(const Front&, const TilePlayer&, const PlayChoice&);
/// The counters of the algorithm's longest point under that pass and mask, beside its closed form: of as many queries
/// as keys where there is such a point.
[[nodiscard]] std::optional<Residual> longest_counted(const Evidence&, std::string_view algorithm, Pass, const Mask&);

/// The tiles of one head's S, and of each round those that it works on: row, column, rows, columns; heads one below the
/// other.
struct PairRounds {
  std::int64_t rows = 0;  ///< 0: no scores are computed
  std::int64_t cols = 0;
  std::vector<std::vector<std::array<std::int64_t, 4>>> rounds{};
};
[[nodiscard]] PairRounds pair_rounds(const TilePlayer&);

}  // namespace attnscope::analysis::lesson
