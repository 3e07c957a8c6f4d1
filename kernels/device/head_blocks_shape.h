// SPDX-License-Identifier: Apache-2.0
// Which tile of which head a block takes, where the heads' blocks follow one another: one place for the host's tile
// programs and for the kernels. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope {

template <class Int>
struct HeadBlock {
  Int tile;
  Int instance;
};

/// Heads that share their turn where a causal mask gives their tiles unlike lengths: as many as have 32,768 keys, so
/// that a turn has one to two times the blocks that run at once, of 128 rows or keys. Where it has no more than run at
/// once, its K and V stay in L2 meanwhile. 32 at most: of many short heads, all would fetch theirs at the same time.
template <class Int>
constexpr Int heads_in_turn(Int n_k) {
  const Int heads = n_k > 0 ? 32'768 / n_k : 1;
  return heads > 32 ? 32 : heads > 1 ? heads : 1;
}

/// Head by head, each from its first or its last tile on.
template <class Int>
constexpr HeadBlock<Int> head_block(Int block, Int tiles, bool last_first) {
  return {last_first ? tiles - 1 - block % tiles : block % tiles, block / tiles};
}

/// `in_turn` heads go together, tile by tile (what does not divide, at the launch's beginning). Where tiles are of
/// unlike lengths several go together, the longest tiles of all of them first: of one head by itself, the last one, the
/// longest tile would begin when little else is left, and most SMs would wait for it.
template <class Int>
constexpr HeadBlock<Int> head_block(Int block, Int tiles, Int instances, Int in_turn, bool last_first) {
  const Int most = in_turn < instances ? in_turn : instances;
  const Int left_over = instances % most;
  Int heads = left_over;
  Int head = 0;
  if (block >= left_over * tiles) {
    block -= left_over * tiles;
    heads = most;
    head = left_over + block / (most * tiles) * most;
    block %= most * tiles;
  }
  return {last_first ? tiles - 1 - block / heads : block / heads, head + block % heads};
}

}  // namespace attnscope
