// SPDX-License-Identifier: Apache-2.0
// Template folder for a user-defined kernel: source, manifest and a page of instructions.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// Template file embedded in the program: assets/own-kernel/.
struct NewKernelFile {
  std::string_view path;  ///< "@NAME@" in path and text is replaced by the kernel's name
  std::string_view text;
};

[[nodiscard]] std::span<const NewKernelFile> new_kernel_files();

/// Writes the folder `parent`/`name`, which must not exist. Returns the path of the manifest, or a one-line error.
[[nodiscard]] Result<std::filesystem::path, Message> write_new_kernel(const std::string& name,
                                                                      const std::filesystem::path& parent);

}  // namespace attnscope::user
