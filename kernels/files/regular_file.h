// SPDX-License-Identifier: Apache-2.0
// Reads files whose names come from a user, a manifest or another file. Opening a FIFO would block, a device may never
// end, and a huge file would fill the memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope {

/// Reason why `file` is not a readable regular file of at most `max_bytes`, without its name; empty if it is one. Does
/// not open the file.
[[nodiscard]] Message regular_file_error(const std::filesystem::path& file, std::uintmax_t max_bytes = UINTMAX_MAX);

/// Content of a regular file of at most `max_bytes`; the error is as above.
[[nodiscard]] Result<std::string, Message> read_regular_file(const std::filesystem::path& file,
                                                             std::uintmax_t max_bytes);

}  // namespace attnscope
