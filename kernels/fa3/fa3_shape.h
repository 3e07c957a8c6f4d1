// SPDX-License-Identifier: Apache-2.0
// Geometry of the FlashAttention-3 forward kernel (sm_90a): one place for the host, which launches it, and for the
// device code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::fa3 {

/// A product spans 64 query rows and steps of 16 columns of d or 16 keys.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Warpgroups that multiply, 64 query rows each; of one more, a thread has Q, K and V loaded.
constexpr int group_rows = 64;
constexpr int consumers(int br) {
  return br / group_rows;
}
constexpr int threads(int br) {
  return (consumers(br) + 1) * 128;
}

/// Blocks that share an SM. One warpgroup of products leaves the tensor cores idle during its softmax; a second block
/// fills the gaps.
constexpr int blocks_per_sm(int br) {
  return consumers(br) == 1 ? 2 : 1;
}

/// Registers a thread starts with: the blocks fill the SM. Then the loading warpgroup hands most of its share over.
constexpr int launch_registers(int br) {
  return consumers(br) == 2 ? 168 : 128;
}
constexpr int producer_registers(int br) {
  return consumers(br) == 1 ? 48 : consumers(br) == 2 ? 56 : 32;
}
constexpr int consumer_registers(int br) {
  return consumers(br) == 1 ? 208 : consumers(br) == 2 ? 224 : 160;
}

/// Registers that a multiplying thread needs, estimated: O accumulator, scores, the same as 16-bit operands, and
/// addresses, statistics and temporaries.
constexpr int register_estimate(int bc, int d) {
  return d / 2 + bc / 2 + bc / 4 + (d > 192 ? 36 : 28);
}

/// Shared memory of one block: Hopper's 227 KiB, or what lets a second block in (each pays 1 KiB to the system).
constexpr long long shared_limit = 232448;
constexpr long long shared_share(int br) {
  return (shared_limit + 1024) / blocks_per_sm(br) - 1024;
}

/// Two barriers of 8 bytes for each buffer of K and of V and for each warpgroup's rows of Q, and for each warpgroup the
/// 16 bytes that tell it of a row tile.
constexpr int barrier_bytes(int br, int stages) {
  return 32 * stages + 32 * consumers(br);
}
/// Q tile, `stages` buffers of K and of V, elements of `element` bytes, and the barriers.
constexpr long long bytes_for_stages(int br, int bc, int d, int element, int stages) {
  return static_cast<long long>(element) * d * (br + 2 * stages * bc) + barrier_bytes(br, stages);
}

/// Buffers of K and of V: two where they fit in the block's share. `chosen` is the tile's choice, 0 for none.
constexpr int stages(int br, int bc, int d, int element, int chosen = 0) {
  if (chosen > 0) {
    return chosen;
  }
  return bytes_for_stages(br, bc, d, element, 2) <= shared_share(br) ? 2 : 1;
}
constexpr int most_stages = 3;

/// O on its way out; it shares Q's place where it has no room beside it, and Q of the next row tile comes later.
constexpr long long o_bytes(int br, int d, int element) {
  return static_cast<long long>(element) * d * br;
}
constexpr bool has_room_for_o(int br, int bc, int d, int element, int stages) {
  return bytes_for_stages(br, bc, d, element, stages) + o_bytes(br, d, element) <= shared_share(br);
}
constexpr long long shared_bytes(int br, int bc, int d, int element, int chosen = 0) {
  const int count = stages(br, bc, d, element, chosen);
  return bytes_for_stages(br, bc, d, element, count) +
         (has_room_for_o(br, bc, d, element, count) ? o_bytes(br, d, element) : 0);
}

/// One to three warpgroups multiply; a product is up to 256 keys wide.
constexpr bool supported_rows(int br) {
  return br == 64 || br == 128 || br == 192;
}
constexpr int most_keys = 256;

}  // namespace attnscope::fa3
