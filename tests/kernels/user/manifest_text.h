// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/user/new_kernel.h"

namespace attnscope::user {

inline std::string template_text() {
  for (const NewKernelFile& each : new_kernel_files()) {
    if (!each.path.ends_with(".json")) continue;
    std::string text(each.text);
    for (std::size_t at = text.find("@NAME@"); at != std::string::npos; at = text.find("@NAME@")) {
      text.replace(at, 6, "my-kernel");
    }
    return text;
  }
  return {};
}

}  // namespace attnscope::user
