// SPDX-License-Identifier: Apache-2.0
// TMA copies of boxes of [instances, rows, columns] tensors between global and shared memory (PTX ISA
// "cp.async.bulk.tensor"; compute capability 9.0). One thread issues a copy; the data bypasses registers and L1.
// Elements outside the tensor are loaded as zeros and not stored. On an H100 the counters show that a loaded box
// crosses from L2 to the SM whole, including the zeros.
#pragma once

#include "device/warpgroup.cuh"

namespace attnscope::device {

/// Layout of CUtensorMap; a __grid_constant__ kernel parameter.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Arrives at a barrier and adds `bytes` to the transaction bytes that its phase waits for.
__device__ __forceinline__ void barrier_arrive_expect_tx(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Makes initialized barriers visible to TMA.
__device__ __forceinline__ void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Returns an L2 evict_first policy, for data that only one block uses.
__device__ __forceinline__ unsigned long long evict_first_policy() {
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Loads one box per panel of a Tile from (`row`, `column`) of the tensor to `tile`, with `stride` bytes between
/// panels. Completion is signaled to `barrier`. `EvictFirst`: no other block reads the data, so it gets evict_first.
template <class Tile, bool EvictFirst = false>
__device__ __forceinline__ void load_boxes(unsigned tile, unsigned stride, const TensorMap& map, unsigned barrier,
                                           int row, int instance, int column = 0) {
#pragma unroll
  for (int panel = 0; panel < Tile::panels; ++panel) {
    if constexpr (EvictFirst) {
      asm volatile(
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
          "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(tile + panel * stride),
          "l"(&map), "r"(barrier), "r"(column + panel * Tile::columns), "r"(row), "r"(instance),
          "l"(evict_first_policy())
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

/// Loads 16 bytes asynchronously; completion is signaled to `barrier`.
__device__ __forceinline__ void load_16_bytes_async(unsigned barrier, unsigned address, const void* global) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(address),
               "l"(global), "r"(barrier)
               : "memory");
}

/// Stores one box per panel of a Tile as one bulk group, with evict_first.
template <class Tile>
__device__ __forceinline__ void store_boxes(const TensorMap& map, unsigned tile, unsigned stride, int row,
                                            int instance) {
#pragma unroll
  for (int panel = 0; panel < Tile::panels; ++panel) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%2, %3, %4}], [%1], %5;" ::"l"(
            &map),
        "r"(tile + panel * stride), "r"(panel * Tile::columns), "r"(row), "r"(instance), "l"(evict_first_policy())
        : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until this thread's bulk stores have read shared memory, so that it may be overwritten.
__device__ __forceinline__ void wait_bulk_store_reads() {
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
__device__ __forceinline__ void fill_16_bytes(unsigned address, unsigned word) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(word) : "memory");
}

/// Stores a warp's 16 rows of packed accumulator tiles (8 columns each) into the panels of a Tile, `Stride` bytes
/// apart. `row` is the address of row lane % 16 of the warp in the first panel.
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
