// SPDX-License-Identifier: Apache-2.0
// Boxes of tensors of instances x rows x columns between global and shared memory by the tensor memory accelerator
// (PTX ISA "cp.async.bulk.tensor"; compute capability 9.0): one thread asks, no register and no L1 is on the way. What
// of a box lies outside the tensor is zero when it is loaded, and left out when it is stored. By the counters of an
// H100 a loaded box crosses from L2 to the SM whole, zeros too.
#pragma once

#include "device/warpgroup.cuh"

namespace attnscope::device {

/// CUtensorMap, a kernel's __grid_constant__ parameter.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

__device__ __forceinline__ void fetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Arrives at a barrier whose phase then ends when `bytes` more have come.
__device__ __forceinline__ void barrier_arrive_expecting(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Makes barriers that this thread has made visible to the copies.
__device__ __forceinline__ void fence_barriers_for_copies() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// What one block alone reads or writes goes first when the L2 needs room: other blocks' tiles stay longer.
__device__ __forceinline__ unsigned long long first_to_go() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Loads a box for each panel of a Tile, `stride` bytes apart from `tile` on, from row `row` and column `column` of the
/// tensor; the barrier is told of their bytes. `Alone`: no other block reads it, so it is the first to leave the L2.
template <class Tile, bool Alone = false>
__device__ __forceinline__ void load_boxes(unsigned tile, unsigned stride, const TensorMap& map, unsigned barrier,
                                           int row, int instance, int column = 0) {
#pragma unroll
  for (int panel = 0; panel < Tile::panels; ++panel) {
    if constexpr (Alone) {
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
          "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(tile + panel * stride),
          "l"(&map), "r"(barrier), "r"(column + panel * Tile::columns), "r"(row), "r"(instance), "l"(first_to_go())
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
          "[%2];" ::"r"(tile + panel * stride),
          "l"(&map), "r"(barrier), "r"(column + panel * Tile::columns), "r"(row), "r"(instance)
          : "memory");
    }
  }
}

/// Loads 16 bytes; the barrier is told of them.
__device__ __forceinline__ void load_16_bytes_for(unsigned barrier, unsigned address, const void* global) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(address),
               "l"(global), "r"(barrier)
               : "memory");
}

/// Stores such boxes, as one group of this thread's; they are the first to leave the L2.
template <class Tile>
__device__ __forceinline__ void store_boxes(const TensorMap& map, unsigned tile, unsigned stride, int row,
                                            int instance) {
#pragma unroll
  for (int panel = 0; panel < Tile::panels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3, %4}], [%1], %5;" ::"l"(
            &map),
        "r"(tile + panel * stride), "r"(panel * Tile::columns), "r"(row), "r"(instance), "l"(first_to_go())
        : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until what this thread's stores read of shared memory may be overwritten.
__device__ __forceinline__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__device__ __forceinline__ float load_shared(unsigned address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}
__device__ __forceinline__ float2 load_shared_pair(unsigned address) {
  float2 pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "r"(address) : "memory");
  return pair;
}
/// Fills 16 bytes of shared memory with a word.
__device__ __forceinline__ void fill_16_bytes(unsigned address, unsigned word) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(word) : "memory");
}

/// Stores a warp's 16 rows of packed accumulator tiles, 8 columns each, into a Tile's panels, `Stride` bytes apart;
/// `row` is where row lane % 16 of the warp begins in the first panel.
template <class Tile, unsigned Stride, int Tiles>
__device__ __forceinline__ void store_panels(unsigned row, const unsigned (&pairs)[Tiles][2]) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (int n = 0; n < Tiles; n += 2) {
    const unsigned address =
        row + n * 8 / Tile::columns * Stride + Tile::place(lane % 8, n % (Tile::columns / 8) + lane / 16);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(pairs[n][0]),
                 "r"(pairs[n][1]), "r"(pairs[n + 1][0]), "r"(pairs[n + 1][1])
                 : "memory");
  }
}

}  // namespace attnscope::device
