// SPDX-License-Identifier: Apache-2.0
// Default files of runs.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace attnscope {

/// Returns $XDG_DATA_HOME/attnscope/runs or ~/.local/share/attnscope/runs. Throws CommandError if there is no home
/// directory.
[[nodiscard]] std::filesystem::path runs_folder();

/// Returns runs_folder()/PRESET-DATE-TIME.attnscope.
[[nodiscard]] std::filesystem::path new_run_file(std::string_view preset);

/// Returns the preset's files in runs_folder(), newest first.
[[nodiscard]] std::vector<std::filesystem::path> run_files(std::string_view preset);

}  // namespace attnscope
