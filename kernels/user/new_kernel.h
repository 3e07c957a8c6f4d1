// SPDX-License-Identifier: Apache-2.0
// Template folders for user-defined kernels: source, manifest and a page of instructions.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// Template file embedded in the program: assets/own-kernel/.
struct NewKernelFile {
  std::string_view path;  ///< "@NAME@" in path and text is replaced by the kernel's name
  std::string_view text;
};

enum class NewKernelKind {
  cuda,  ///< compiled by NVRTC
  nvcc,  ///< kernel and launcher in one file, compiled by nvcc
  library,
  torch_extension,  ///< extension and library share the kernel
};

/// Files of all kinds; paths have folders.
[[nodiscard]] std::span<const NewKernelFile> embedded_kernel_files();
/// Files of one kind; paths are file names.
[[nodiscard]] std::vector<NewKernelFile> new_kernel_files(NewKernelKind kind = NewKernelKind::cuda);

/// Writes the folder `parent`/`name`, which must not exist. Returns the path of the manifest, or a one-line error.
[[nodiscard]] Result<std::filesystem::path, Message> write_new_kernel(const std::string& name,
                                                                      const std::filesystem::path& parent,
                                                                      NewKernelKind kind = NewKernelKind::cuda);

}  // namespace attnscope::user
