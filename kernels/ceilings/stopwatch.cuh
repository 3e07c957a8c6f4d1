// SPDX-License-Identifier: Apache-2.0
// What each kernel of the ceilings ends with: its results looked at, so that no compiler leaves work out, and the clock
// that the SMs held meanwhile.
#pragma once

namespace attnscope::device {

/// Cycles of this SM, and nanoseconds, since the block began.
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

/// `report`: cycles and nanoseconds of the first block, then a word that keeps `result` alive and is never written in
/// truth.
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
