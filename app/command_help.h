// SPDX-License-Identifier: Apache-2.0
// Summaries and examples of all commands, and the layout of --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace attnscope {

/// Sets description, layout and exit codes of `program` and of all commands below it. Throws std::logic_error for a
/// command without a summary.
void add_command_help(CLI::App& program);

/// Breaks lines of more than `width` columns at spaces; line breaks in `text` are kept.
[[nodiscard]] std::string wrap_text(std::string_view text, std::size_t width);

}  // namespace attnscope
