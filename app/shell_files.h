// SPDX-License-Identifier: Apache-2.0
// What a shell's user has besides --help: manual pages and completions, made of the commands' own definitions.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

/// In roff, section 1.
[[nodiscard]] std::string man_page(const CLI::App& command);

/// bash, zsh, fish.
[[nodiscard]] const std::vector<std::string>& completed_shells();
/// What the shell sources. Pre: one of completed_shells().
[[nodiscard]] std::string completion(const CLI::App& program, const std::string& shell);

/// All of them below `folder`, where an installation has them below its share/. Throws CommandError.
void write_shell_files(const CLI::App& program, const std::filesystem::path& folder);

}  // namespace attnscope
