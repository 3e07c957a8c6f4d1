// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

/// The device code as it stood when the program was built; `path` is relative to kernels/, as #include lines write it
/// ("device/mma.cuh").
struct EmbeddedSource {
  std::string_view path;
  std::string_view text;  ///< NUL-terminated beyond its end
};
[[nodiscard]] std::span<const EmbeddedSource> embedded_sources();

}  // namespace attnscope
