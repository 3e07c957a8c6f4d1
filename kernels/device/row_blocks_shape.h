// SPDX-License-Identifier: Apache-2.0
// Which row tile of which instance a block takes, where the heads' blocks follow one another: one place for the host's
// tile programs and for the kernels. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope {

template <class Int>
struct RowBlock {
  Int tile;
  Int instance;
};

/// Heads that share their turn where later row tiles see more keys: as many as have 32,768 keys, so that a turn has
/// about as many blocks as run at once (256 of 128 rows) and its K and V stay in L2 meanwhile; with more, some are read
/// twice. 16 at most: of many short heads, all would fetch K and V at the same time.
template <class Int>
constexpr Int heads_in_turn(Int n_k) {
  const Int heads = n_k > 0 ? 32'768 / n_k : 1;
  return heads > 16 ? 16 : heads > 1 ? heads : 1;
}

/// Head by head. Where later row tiles see more keys (`last_first`), `in_turn` heads go together, the longest tiles of
/// all of them first (what does not divide, at the launch's beginning): of one head by itself, the last one, the
/// longest tile would begin when little else is left, and most SMs would wait for it, 5% to 12% of a causal pass
/// whatever N.
template <class Int>
constexpr RowBlock<Int> row_block(Int block, Int row_tiles, Int instances, Int in_turn, bool last_first) {
  if (!last_first) {
    return {block % row_tiles, block / row_tiles};
  }
  const Int most = in_turn < instances ? in_turn : instances;
  const Int left_over = instances % most;
  Int heads = left_over;
  Int head = 0;
  if (block >= left_over * row_tiles) {
    block -= left_over * row_tiles;
    heads = most;
    head = left_over + block / (most * row_tiles) * most;
    block %= most * row_tiles;
  }
  return {row_tiles - 1 - block / heads, head + block % heads};
}

}  // namespace attnscope
