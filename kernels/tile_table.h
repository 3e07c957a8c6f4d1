// SPDX-License-Identifier: Apache-2.0
// Tile choice `auto`: the fastest measured tile for an algorithm, pass, mask, head dimension, length and architecture.
// The table is kernels/tiles.csv; each line gives its reason.
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

/// One line of the table. `d` is the upper end of a range of head dimensions that begins above the next smaller d with
/// the same algorithm, pass, architecture and mask. `n` is the same for n_k among lines of one d; the line with the
/// largest n also covers all longer lengths.
struct TileChoice {
  std::string algorithm;
  Pass pass = Pass::fwd;
  std::string arch;     ///< compute capability: "9.0"
  bool causal = false;  ///< right side bounded; all other masks use the lines of the full mask
  std::int64_t d = 0;
  std::int64_t n = 0;    ///< number of keys
  Config config{};       ///< with the default raster
  std::string reason{};  ///< one sentence with the measured numbers
};

[[nodiscard]] std::span<const TileChoice> tile_table();

/// Hidden dimension of the tuning problems: heads = tuning_hidden_dim / d.
inline constexpr std::int64_t tuning_hidden_dim = 2'048;
/// Query heads per K/V head in the tuning problems of decoding algorithms.
inline constexpr std::int64_t tuning_gqa_group = 8;
/// K/V heads in the tuning problems of decoding algorithms; their batch is 1.
[[nodiscard]] std::int64_t tuning_kv_heads(std::int64_t d);

/// Parses a header and lines of algorithm,pass,arch,mask,d,n,br,bc, one number per knob of the header (0: the
/// algorithm's choice) and the reason, which may contain commas. '#' starts a comment. Throws
/// std::invalid_argument with the number of an invalid line.
[[nodiscard]] std::vector<TileChoice> parse_tile_table(std::string_view text);
/// Returns the line for a problem on a device; nullptr if there is none. The tile may still be infeasible there.
[[nodiscard]] const TileChoice* find_tile_choice(std::span<const TileChoice>, std::string_view algorithm,
                                                 const AttentionProblem&, const DeviceLimits&);

/// Configuration of the table if it is feasible, else Algorithm::default_config(). The line's splits are used only if
/// set, and if the problem has the K/V heads (over the batch) of the tuning problem and over half of its keys.
/// Otherwise default_config() chooses them, since the best number of splits depends on both.
[[nodiscard]] Config auto_config(const Algorithm&, const AttentionProblem&, const DeviceLimits&);

}  // namespace attnscope
