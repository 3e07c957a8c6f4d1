// SPDX-License-Identifier: Apache-2.0
// Tiles of 16-bit elements in shared memory, rows unpadded, their 16-byte chunks swizzled so that eight consecutive
// rows of one chunk column lie in different banks: ldmatrix reads them without conflict.
#pragma once

#include "device/mma.cuh"

namespace attnscope::device {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// 16 bytes from global to shared memory past L1; zeros, and no traffic, where `inside` is false.
__device__ __forceinline__ void copy_async(unsigned shared, const void* global, bool inside) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(inside ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `Pending` of the latest groups of this thread are still under way.
template <int Pending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// The value itself, as if it were new to the compiler: what is computed from it is computed where it is used, and does
/// not occupy registers across a whole loop.
template <class Int>
__device__ __forceinline__ Int recomputed(Int value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// Tile rows of `Columns` elements (a multiple of 16).
template <int Columns>
struct SharedTile {
  static constexpr int row_bytes = Columns * 2;
  static constexpr int chunks = Columns / 8;
  // A row is a multiple of 2, 4 or 8 chunks long; what it lacks to 8, consecutive rows make up for by themselves.
  static constexpr int mask = chunks % 8 == 0 ? 7 : chunks % 4 == 0 ? 3 : 1;
  static constexpr int shift = chunks % 8 == 0 ? 0 : chunks % 4 == 0 ? 1 : 2;

  __device__ __forceinline__ static unsigned offset(int row, int chunk) {
    return row * row_bytes + ((chunk ^ ((row >> shift) & mask)) << 4);
  }

  /// Moves an address made by one of the lane functions on by `Step` times 16 columns: bits of the row do not change.
  __device__ __forceinline__ static unsigned columns_on(unsigned lane_address, int step) {
    const int chunk = 2 * step;
    return (lane_address ^ ((chunk & mask) << 4)) + ((chunk & ~mask) << 4);
  }

  /// Where this lane reads a 16 x 16 block that starts at row 0: as left operand, or transposed as right operand
  /// (rows are then the summed dimension).
  __device__ __forceinline__ static unsigned lane_left(unsigned tile, int lane) {
    return tile + offset(lane % 16, lane / 16);
  }
  /// Where this lane reads a 16 x 16 block whose rows are the columns of the right operand.
  __device__ __forceinline__ static unsigned lane_right(unsigned tile, int lane) {
    return tile + offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
  }

  /// Copies `Rows` rows, `inside` of which exist, by `Threads` threads.
  template <int Rows, int Threads>
  __device__ __forceinline__ static void copy_rows(unsigned tile, const Element* global, long long stride, int inside,
                                                   int thread) {
    copy_block<Rows, Threads>(tile, global, stride, inside, chunks, thread);
  }

  /// The same where only the first `inside_chunks` chunks of a row exist.
  template <int Rows, int Threads>
  __device__ __forceinline__ static void copy_block(unsigned tile, const Element* global, long long stride, int inside,
                                                    int inside_chunks, int thread) {
    constexpr int total = Rows * chunks;
    // Wide rows go with accumulators that leave no registers for addresses held across a loop.
    constexpr bool tight = Columns > 64;
    constexpr int unrolled = tight ? 4 : 8;
    if (tight) {
      thread = recomputed(thread);
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
