// SPDX-License-Identifier: Apache-2.0
// Tile choice `auto`: the tile that was measured to be fastest for an algorithm, pass, mask, head dimension, length and
// architecture. The table is kernels/tiles.csv, reasons beside the tiles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/registry.h"

namespace attnscope {

/// One line of the table. It speaks for the head dimensions above the next smaller one that the table has for the same
/// algorithm, pass, architecture and mask, up to and including its own; of these lines of one d, for the n_k above the
/// next smaller n, up to and including its own, the one with the largest n also for all beyond.
struct TileChoice {
  std::string algorithm;
  Pass pass = Pass::fwd;
  std::string arch;     ///< compute capability: "9.0"
  bool causal = false;  ///< bounded to the right; every other mask goes with the full one
  std::int64_t d = 0;
  std::int64_t n = 0;    ///< keys
  Config config{};       ///< raster as the algorithm has it by default
  std::string reason{};  ///< one sentence with the figures it was chosen by
};

/// The table that the program was built with.
[[nodiscard]] std::span<const TileChoice> tile_table();

/// The hidden dimension of the problems that lines are measured with: heads = tuned_hidden / d.
inline constexpr std::int64_t tuned_hidden = 2'048;
/// Query heads that share a K/V head where the algorithm is made for decoding.
inline constexpr std::int64_t tuned_decode_group = 8;
/// K/V heads of those problems, of batch 1.
[[nodiscard]] std::int64_t tuned_decode_kv_heads(std::int64_t d);

/// A table's text: a header, and lines of algorithm,pass,arch,mask,d,n,br,bc, a number for each of the knobs that the
/// header names (0: the algorithm's choice), and the reason, which may hold commas; '#' begins a comment. The error
/// names the line.
[[nodiscard]] Result<std::vector<TileChoice>, Message> parse_tile_table(
    std::string_view text, const Registry& registry = built_in_algorithms());
/// The table's line for a problem on a device; nullptr where it has none. The tile may still be refused there.
[[nodiscard]] const TileChoice* find_tile_choice(std::span<const TileChoice>, std::string_view algorithm,
                                                 const AttentionProblem&, const DeviceLimits&);

/// The table's line where it has one that runs; else Algorithm::default_config(). Splits are that rule's unless the
/// line has its own, the problem has as many K/V heads, over the batch, as the line was measured with, and more than
/// half of its keys: how many splits fill the SMs, and have keys, turns on those.
[[nodiscard]] Config auto_config(const Algorithm&, const AttentionProblem&, const DeviceLimits&);

}  // namespace attnscope
