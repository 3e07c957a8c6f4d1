// SPDX-License-Identifier: Apache-2.0
// Prepares the log of a failed compilation for reading.
#pragma once

#include <string>
#include <string_view>

#include "kernels/algorithm.h"

namespace attnscope::gpu {

/// The log of NVRTC or nvcc with its errors first, in their order. Appends what to do to errors about missing headers
/// and host code.
[[nodiscard]] std::string errors_first(std::string_view log, UserSource::Compiler);

}  // namespace attnscope::gpu
