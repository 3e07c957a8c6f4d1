// SPDX-License-Identifier: Apache-2.0
// Geometry of the FlashAttention-3 forward kernel (sm_90a): one place for the host, which launches it, and for the
// device code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::fa3 {

/// A product spans 64 query rows and steps of 16 columns of d or 16 keys.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}
/// On-chip tiles are panels of 64 columns; no product reads those of the last one that d does not fill.
constexpr int panel_columns(int d) {
  return (d + 63) / 64 * 64;
}

/// Warpgroups that multiply, 64 query rows each; one more loads K and V.
constexpr int consumers(int br) {
  return br / 64;
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

/// Two barriers of 8 bytes for each buffer of K and of V.
constexpr int barrier_bytes(int stages) {
  return 32 * stages;
}
/// Q tile, `stages` buffers of K and of V, elements of `element` bytes, and the barriers.
constexpr long long bytes_for_stages(int br, int bc, int d, int element, int stages) {
  return static_cast<long long>(element) * panel_columns(d) * (br + 2 * stages * bc) + barrier_bytes(stages);
}

/// Shared memory of one block: Hopper's 227 KiB, or what lets a second block in (each pays 1 KiB to the system).
constexpr long long shared_limit = 232448;
constexpr long long shared_share(int br) {
  return (shared_limit + 1024) / blocks_per_sm(br) - 1024;
}

/// Buffers of K and of V: two where they fit in the block's share. `chosen` is the tile's choice, 0 for none.
constexpr int stages(int br, int bc, int d, int element, int chosen = 0) {
  if (chosen > 0) {
    return chosen;
  }
  return bytes_for_stages(br, bc, d, element, 2) <= shared_share(br) ? 2 : 1;
}
constexpr int most_stages = 3;
constexpr long long shared_bytes(int br, int bc, int d, int element, int chosen = 0) {
  return bytes_for_stages(br, bc, d, element, stages(br, bc, d, element, chosen));
}

/// One to three warpgroups multiply; a product is up to 256 keys wide.
constexpr bool supported_rows(int br) {
  return br == 64 || br == 128 || br == 192;
}
constexpr int most_keys = 256;

}  // namespace attnscope::fa3
