// SPDX-License-Identifier: Apache-2.0
// Timing and result handling shared by the ceiling kernels.
#pragma once

namespace attnscope::device {

/// SM cycle counter and global timer (ns).
struct Stopwatch {
  unsigned long long cycles;
  unsigned long long nanoseconds;

  __device__ __forceinline__ static Stopwatch now() {
    Stopwatch watch;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(watch.cycles)::"memory");
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(watch.nanoseconds)::"memory");
    return watch;
  }
};

/// Writes the elapsed cycles and nanoseconds of the first block to `report`. A third word, never written in practice,
/// keeps the compiler from removing the computation of `result`.
__device__ __forceinline__ void finish(unsigned long long* report, const Stopwatch& begin, unsigned result) {
  if (result == 0x9e3779b9u && begin.cycles == 1) {
    report[2] = result;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const Stopwatch end = Stopwatch::now();
    report[0] = end.cycles - begin.cycles;
    report[1] = end.nanoseconds - begin.nanoseconds;
  }
}

}  // namespace attnscope::device
