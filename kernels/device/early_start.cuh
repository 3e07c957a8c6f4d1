// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch (CUDA Programming Guide): the blocks of a launch that starts early (KernelLaunch) come
// to the SMs while the launch before it still runs. Before compute capability 9.0, launches follow one another anyhow.
#pragma once

namespace attnscope::device {

/// Lets the next launch start, as far as there is room beside this one, once every block has called this or ended.
__device__ __forceinline__ void let_next_launch_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the launch before has ended and what it wrote can be read.
__device__ __forceinline__ void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace attnscope::device
