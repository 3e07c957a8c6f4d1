// SPDX-License-Identifier: Apache-2.0
// Checks of the memory that PyTorch allocates with attnscope_malloc() (python_kernel.h).
#pragma once

#include <cstdint>

#include "kernels/messages/message.h"

namespace attnscope::gpu {

// Pre: the device is idle. Both throw DriverError.
/// Fills the memory with this tag with NaN bytes, including blocks that PyTorch freed.
void poison_memory(std::int64_t tag);
/// Returns one sentence if the guard areas around memory with this tag were written, else an empty message.
[[nodiscard]] Message stray_write(std::int64_t tag);

}  // namespace attnscope::gpu
