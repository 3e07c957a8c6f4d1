// SPDX-License-Identifier: Apache-2.0
// Sample measurements that ship with the program, shown if no file is given.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Candidate folders, best first: share/attnscope/samples relative to the program's prefix, then below $XDG_DATA_HOME
/// and each of $XDG_DATA_DIRS.
[[nodiscard]] std::vector<std::filesystem::path> sample_folders(const std::filesystem::path& program);

/// Returns the canonical path of NAME.attnscope in the first folder that has it; empty if none has.
[[nodiscard]] std::filesystem::path sample_path(std::string_view name);

[[nodiscard]] std::vector<std::string> sample_paths(const std::vector<std::string_view>& names);

/// H200 sweeps.
inline constexpr std::string_view main_sample = "h200";
/// The same points on an H100.
inline constexpr std::string_view second_sample = "h100";
/// H200 samples: sweeps over N, d and M for the law fits; tile maps; five algorithms over N in one run; measured
/// ceilings.
inline constexpr std::string_view law_sample = "h200-law";
inline constexpr std::string_view tiles_sample = "h200-tiles";
inline constexpr std::string_view race_sample = "h200-race";
inline constexpr std::string_view ceilings_sample = "h200-ceilings";

/// Samples for the window and reports: sweeps and ceilings of the H200.
[[nodiscard]] std::vector<std::string> default_samples();
/// Samples of the lesson: sweeps, law fits, tile maps and race of the H200; sweeps of the H100, for claims.
[[nodiscard]] std::vector<std::string> lesson_samples();

}  // namespace attnscope
