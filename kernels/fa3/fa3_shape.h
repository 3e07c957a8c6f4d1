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
/// With 8-bit operands a tile of two warpgroups is wider: they get all that there is.
constexpr int producer_registers(int br, int element) {
  return element == 1 && consumers(br) == 2 ? 40 : producer_registers(br);
}
constexpr int consumer_registers(int br, int element) {
  return element == 1 && consumers(br) == 2 ? 232 : consumer_registers(br);
}

/// 8-bit values are stored transposed; below their d rows of a key tile lie rows of ones, which sum P.
constexpr int ones_rows(int element) {
  return element == 1 ? 8 : 0;
}

/// Registers that a multiplying thread needs, estimated: O accumulator, scores, the same as operands, and addresses,
/// statistics and temporaries. With 8-bit operands P of two key tiles, and 64 columns of one's P V with the sums of P.
constexpr int register_estimate(int bc, int d, int element) {
  return d / 2 + bc / 2 + bc / 4 + (element == 1 ? 36 : 0) + (d > 192 ? 36 : 28);
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
/// With 8-bit operands, 16 bytes beside each of these say their scale.
constexpr int scale_bytes(int br, int stages, int element) {
  return element == 1 ? 32 * stages + 16 * consumers(br) : 0;
}
/// Q tile, `stages` buffers of K and of V, elements of `element` bytes, ones, and the barriers.
constexpr long long bytes_for_stages(int br, int bc, int d, int element, int stages) {
  return static_cast<long long>(element) * d * (br + 2 * stages * bc) + 1ll * stages * bc * ones_rows(element) +
         barrier_bytes(br, stages) + scale_bytes(br, stages, element);
}

/// Buffers of K and of V: two where they fit in the block's share. `chosen` is the tile's choice, 0 for none.
constexpr int stages(int br, int bc, int d, int element, int chosen = 0) {
  if (chosen > 0) {
    return chosen;
  }
  return bytes_for_stages(br, bc, d, element, 2) <= shared_share(br) ? 2 : 1;
}
constexpr int most_stages = 3;

/// O on its way out, in 16 bits; it shares Q's place where it has no room beside it, and Q of the next row tile comes
/// later.
constexpr long long o_bytes(int br, int d) {
  return 2ll * d * br;
}
constexpr bool has_room_for_o(int br, int bc, int d, int element, int stages) {
  return bytes_for_stages(br, bc, d, element, stages) + o_bytes(br, d) <= shared_share(br);
}
constexpr long long shared_bytes(int br, int bc, int d, int element, int chosen = 0) {
  const int count = stages(br, bc, d, element, chosen);
  return bytes_for_stages(br, bc, d, element, count) + (has_room_for_o(br, bc, d, element, count) ? o_bytes(br, d) : 0);
}

/// One to three warpgroups multiply; a product is up to 256 keys wide.
constexpr bool supported_rows(int br) {
  return br == 64 || br == 128 || br == 192;
}
constexpr int most_keys = 256;

/// With operands of 8 bits.
constexpr bool supported_8_bit_head_dim(int d) {
  return d == 64 || d == 128;
}

/// Of each 8 tiles of 8 scores, those whose exponentials are straight lines between powers of two, e4m3's bits right
/// away, by the bits of the mask: the most up to half with which ptxas does not serialize the products (C7511), which
/// the program takes for an error.
constexpr int line_tiles_of(int d, int mask) {
  constexpr int of_mask[16] = {1, 4, 4, 2, 1, 4, 1, 1, 4, 4, 1, 1, 4, 4, 2, 4};
  return d == 128 ? of_mask[mask] : 4;
}

/// Of the launches that make them.
inline constexpr int quantise_threads = 256;
inline constexpr int quantise_registers = 128;

}  // namespace attnscope::fa3
