// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch (CUDA Programming Guide): blocks of an early-starting launch (KernelLaunch) may become
// resident while the previous launch still runs. Before compute capability 9.0, launches simply serialize.
#pragma once

namespace attnscope::device {

/// Allows the next launch to start once every block has called this or exited.
__device__ __forceinline__ void allow_next_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the previous launch has completed and its writes are visible.
__device__ __forceinline__ void wait_for_previous_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace attnscope::device
