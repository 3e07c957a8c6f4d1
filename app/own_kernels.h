// SPDX-License-Identifier: Apache-2.0
// --kernel FILE: a kernel of the user's own.
#pragma once

#include <CLI/CLI.hpp>

namespace attnscope {

/// Loads the statement while the words are parsed, so that axes may name it. Parsing throws CommandError (usage).
void add_kernel_option(CLI::App& command);

}  // namespace attnscope
