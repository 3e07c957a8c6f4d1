// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

/// Device code, embedded at build time. `path` is relative to kernels/, as in #include lines ("device/mma.cuh").
struct EmbeddedSource {
  std::string_view path;
  std::string_view text;  ///< followed by a NUL byte
};
[[nodiscard]] std::span<const EmbeddedSource> embedded_sources();

}  // namespace attnscope
