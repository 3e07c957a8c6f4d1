// SPDX-License-Identifier: Apache-2.0
// Tiles of 16-bit elements in shared memory. Rows are unpadded, and their 16-byte chunks are swizzled so that eight
// consecutive rows of one chunk column lie in different banks (ldmatrix without bank conflicts).
#pragma once

#include "device/mma.cuh"

namespace attnscope::device {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Copies 16 bytes from global to shared memory past L1; zero-fills without traffic if `inside` is false.
__device__ __forceinline__ void copy_async(unsigned shared, const void* global, bool inside) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(inside ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int Pending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Returns `value` opaquely to the compiler, so that expressions of it are recomputed at each use instead of occupying
/// registers across a loop.
template <class Int>
__device__ __forceinline__ Int force_recompute(Int value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Tile with rows of `Columns` elements (a multiple of 16).
template <int Columns>
struct SharedTile {
  static constexpr int row_bytes = Columns * 2;
  static constexpr int chunks = Columns / 8;
  // A row has a multiple of 2, 4 or 8 chunks. Shorter rows are swizzled once per group of consecutive rows that fill 8
  // chunks.
  static constexpr int mask = chunks % 8 == 0 ? 7 : chunks % 4 == 0 ? 3 : 1;
  static constexpr int shift = chunks % 8 == 0 ? 0 : chunks % 4 == 0 ? 1 : 2;

  __device__ __forceinline__ static unsigned offset(int row, int chunk) {
    return row * row_bytes + ((chunk ^ ((row >> shift) & mask)) << 4);
  }

  /// Advances a lane address by `step` x 16 columns within its row.
  __device__ __forceinline__ static unsigned advance_columns(unsigned lane_address, int step) {
    const int chunk = 2 * step;
    return (lane_address ^ ((chunk & mask) << 4)) + ((chunk & ~mask) << 4);
  }

  /// Lane address of a 16 x 16 block that starts at row 0: as left operand, or transposed as right operand (rows are
  /// the summed dimension).
  __device__ __forceinline__ static unsigned left_lane_address(unsigned tile, int lane) {
    return tile + offset(lane % 16, lane / 16);
  }
  /// Lane address of a 16 x 16 block whose rows are the columns of the right operand.
  __device__ __forceinline__ static unsigned right_lane_address(unsigned tile, int lane) {
    return tile + offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
  }

  /// Copies `Rows` rows, of which `inside` exist, with `Threads` threads.
  template <int Rows, int Threads>
  __device__ __forceinline__ static void copy_rows(unsigned tile, const Element* global, long long stride, int inside,
                                                   int thread) {
    copy_block<Rows, Threads>(tile, global, stride, inside, chunks, thread);
  }

  /// Like copy_rows(), but only the first `inside_chunks` chunks of a row exist.
  template <int Rows, int Threads>
  __device__ __forceinline__ static void copy_block(unsigned tile, const Element* global, long long stride, int inside,
                                                    int inside_chunks, int thread) {
    constexpr int total = Rows * chunks;
    // With wide rows, accumulators leave no registers for addresses kept across a loop.
    constexpr bool tight = Columns > 64;
    constexpr int unrolled = tight ? 4 : 8;
    if (tight) {
      thread = force_recompute(thread);
    }
#pragma unroll unrolled
    for (int first = 0; first < total; first += Threads) {
      const int index = first + thread;
      const int row = index / chunks;
      const int chunk = index % chunks;
      if (total % Threads == 0 || index < total) {
        copy_async(tile + offset(row, chunk), global + row * stride + chunk * 8, row < inside && chunk < inside_chunks);
      }
    }
  }
};

}  // namespace attnscope::device
