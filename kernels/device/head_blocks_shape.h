// SPDX-License-Identifier: Apache-2.0
// Maps a block index to a tile and head, shared by the host's tile programs and the kernels. No includes, so that NVRTC
// can compile it.
#pragma once

namespace attnscope {

template <class Int>
struct HeadBlock {
  Int tile;
  Int instance;
};

/// Number of heads whose tiles are interleaved under a causal mask, where tiles differ in work. Chosen so that the
/// heads have 32,768 keys together: one to two waves of blocks with 128 rows or keys. Within one wave their K and V
/// stay in L2. At most 32, since many short heads would all load K and V at the same time.
template <class Int>
constexpr Int interleaved_heads(Int n_k) {
  const Int heads = n_k > 0 ? 32'768 / n_k : 1;
  return heads > 32 ? 32 : heads > 1 ? heads : 1;
}

/// Head by head, from the first or the last tile.
template <class Int>
constexpr HeadBlock<Int> head_block(Int block, Int tiles, bool last_tile_first) {
  return {last_tile_first ? tiles - 1 - block % tiles : block % tiles, block / tiles};
}

/// Interleaves `heads_per_group` heads tile by tile; a smaller remainder group comes first. If tiles differ in work,
/// the longest tiles of all heads in a group start first. With one head at a time, the longest tile of the last head
/// would start late and leave most SMs idle.
template <class Int>
constexpr HeadBlock<Int> head_block(Int block, Int tiles, Int instances, Int heads_per_group, bool last_tile_first) {
  const Int most = heads_per_group < instances ? heads_per_group : instances;
  const Int left_over = instances % most;
  Int heads = left_over;
  Int head = 0;
  if (block >= left_over * tiles) {
    block -= left_over * tiles;
    heads = most;
    head = left_over + block / (most * tiles) * most;
    block %= most * tiles;
  }
  return {last_tile_first ? tiles - 1 - block / heads : block / heads, head + block % heads};
}

}  // namespace attnscope
