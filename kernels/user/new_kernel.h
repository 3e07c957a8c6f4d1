// SPDX-License-Identifier: Apache-2.0
// A folder to begin a kernel of one's own from: source, statement, and a page that says what to change.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// The files of a new kernel, as they travel in the program: assets/own-kernel/.
struct NewKernelFile {
  std::string_view path;  ///< "@NAME@" in it, and in the text, stands for the kernel's name
  std::string_view text;
};

[[nodiscard]] std::span<const NewKernelFile> new_kernel_files();

/// Writes `parent`/`name`, which must not be there; the statement's path. The error is one line.
[[nodiscard]] Result<std::filesystem::path, Message> write_new_kernel(const std::string& name,
                                                                      const std::filesystem::path& parent);

}  // namespace attnscope::user
