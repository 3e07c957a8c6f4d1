// SPDX-License-Identifier: Apache-2.0
// Stand-ins for headers of the host's C and C++ library, which NVRTC does not have.
#pragma once

#include <span>
#include <string_view>

#include "kernels/embedded_sources.h"

namespace attnscope::gpu {

/// Name of the stand-in that is included before each user source: what nvcc provides without an #include.
inline constexpr std::string_view implicit_header = "attnscope_implicit.h";

/// All stand-ins. Some include headers of CCCL, which is part of the CUDA toolkit.
[[nodiscard]] std::span<const EmbeddedSource> host_headers();

}  // namespace attnscope::gpu
