// SPDX-License-Identifier: Apache-2.0
// Bytes of kernel arguments as the driver takes them.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::gpu {

/// Value of an argument other than a tensor map. `address_of` returns a buffer's address.
[[nodiscard]] std::vector<std::byte> argument_value(const Argument&,
                                                    const std::function<CUdeviceptr(const std::string&)>& address_of);
/// Size of the kernel parameter that the argument needs.
[[nodiscard]] std::size_t argument_bytes(const Argument&);

}  // namespace attnscope::gpu
