// SPDX-License-Identifier: Apache-2.0
// Where runs are kept when the user names no file.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace attnscope {

/// $XDG_DATA_HOME/attnscope/runs, or ~/.local/share/attnscope/runs. Throws CommandError where there is no home.
[[nodiscard]] std::filesystem::path runs_folder();

/// runs_folder()/<preset>-<local date and time>.attnscope
[[nodiscard]] std::filesystem::path new_run_file(std::string_view preset);

/// The preset's files in runs_folder(), newest first.
[[nodiscard]] std::vector<std::filesystem::path> run_files(std::string_view preset);

}  // namespace attnscope
