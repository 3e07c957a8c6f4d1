// SPDX-License-Identifier: Apache-2.0
// A folder to begin a kernel of one's own from: source, statement, and a page that says what to change.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// Makes `parent`/`name`, which must not be there. Nothing where it is made, else one line.
[[nodiscard]] Message make_kernel_folder(const std::filesystem::path& parent, const std::string& name);
/// Nothing where it is written, else one line.
[[nodiscard]] Message write_kernel_file(const std::filesystem::path& file, std::string_view text);

/// What a new kernel can be like: algorithms, the first unless another is named.
[[nodiscard]] const std::vector<std::string>& new_kernel_likes();

/// Writes `parent`/`name`, which must not be there; the statement's path. The error is one line.
[[nodiscard]] Result<std::filesystem::path, Message> write_new_kernel(const std::string& name,
                                                                      const std::filesystem::path& parent);

}  // namespace attnscope::user
