// SPDX-License-Identifier: Apache-2.0
// Which tile programs a step of the lesson plays: algorithms, masks and tiles by its front matter.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/player.h"

namespace attnscope::analysis::lesson {

/// What somebody chooses otherwise than the text does, a word of `play_also` as "bc=128": n, br, bc, heads, m or l2 (in
/// KiB). 0 leaves the text's.
struct PlayChoice {
  std::string label{};  ///< "Bc 128"
  std::int64_t n = 0;
  std::int64_t br = 0;
  std::int64_t bc = 0;
  std::int64_t heads = 0;
  std::int64_t m = 0;   ///< elements of fp16: the tile is the paper's rule's
  std::int64_t l2 = 0;  ///< in KiB
};

/// The `play...` lines of a front matter.
struct Playing {
  std::vector<const Algorithm*> algorithms{};
  std::int64_t n = 512;
  std::int64_t d = 64;
  std::int64_t br = 64;
  std::int64_t bc = 64;
  std::int64_t heads = 1;
  std::int64_t l2 = 0;   ///< in KiB; 0: the GPU's
  std::int64_t sms = 0;  ///< that the blocks are handed to; 0: the GPU's
  Pass pass = Pass::fwd;
  std::vector<Mask> masks{Mask::none};
  std::vector<PlayChoice> also{};
};
[[nodiscard]] Playing read_playing(FrontReader&);

/// With the tile that is asked for where it runs, else the algorithm's own; of N halved until it has `most` frames at
/// the most, or nothing.
[[nodiscard]] std::optional<TilePlayer> player_of(const Playing&, const Evidence&, const Algorithm&, const Mask&,
                                                  std::int64_t most, const PlayChoice& = {});
/// Whether the player has the tile that was asked for.
[[nodiscard]] bool plays_what_was_chosen(const TilePlayer&, const PlayChoice&);
/// Whether its N is shorter than what was asked for, since that has too many frames.
[[nodiscard]] bool plays_a_shorter_n(const Playing&, const TilePlayer&, const PlayChoice&);
/// The tiles of one head's S, and of each round those that it works on: row, column, rows, columns; heads one below the
/// other.
struct PairRounds {
  std::int64_t rows = 0;  ///< 0: no scores are computed
  std::int64_t cols = 0;
  std::vector<std::vector<std::array<std::int64_t, 4>>> rounds{};
};
[[nodiscard]] PairRounds pair_rounds(const TilePlayer&);

}  // namespace attnscope::analysis::lesson
