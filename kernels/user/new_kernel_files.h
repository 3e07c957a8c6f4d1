// SPDX-License-Identifier: Apache-2.0
// The files of a new kernel, as they travel in the program: assets/own-kernel/.
#pragma once

#include <span>
#include <string_view>

namespace attnscope::user {

struct NewKernelFile {
  std::string_view path;  ///< "@NAME@" in it, and in the text, stands for the kernel's name
  std::string_view text;
};

[[nodiscard]] std::span<const NewKernelFile> new_kernel_files();

}  // namespace attnscope::user
