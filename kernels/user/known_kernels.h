// SPDX-License-Identifier: Apache-2.0
// The users' kernels of a process. Those that it starts load the same: an environment variable tells them.
#pragma once

#include <filesystem>

#include "kernels/model/message.h"

namespace attnscope::user {

/// Loads a statement into known_algorithms(). The error is one line; empty where there is none. Pre: as
/// add_known_algorithm().
[[nodiscard]] Message load_known_kernel(const std::filesystem::path& file);
/// What the process that started this one had loaded.
[[nodiscard]] Message load_inherited_kernels();

}  // namespace attnscope::user
