// SPDX-License-Identifier: Apache-2.0
// The recorded measurements that ship with the programs: what a program shows that is given no file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// The folders that may hold them, best first: share/attnscope/samples beside the program's own bin, wherever that has
/// been moved to, then below $XDG_DATA_HOME and each of $XDG_DATA_DIRS.
[[nodiscard]] std::vector<std::filesystem::path> sample_folders(const std::filesystem::path& program);

/// NAME.attnscope of the first folder that has it, without links; empty where none has.
[[nodiscard]] std::filesystem::path recorded_sample(std::string_view name);

/// Those of the names that are there.
[[nodiscard]] std::vector<std::string> recorded_samples(const std::vector<std::string_view>& names);

/// An H200's sweeps.
inline constexpr std::string_view main_sample = "h200";
/// The same points on an H100.
inline constexpr std::string_view second_sample = "h100";
/// Sweeps over N, d and M, maps of tiles, five algorithms over N in one run, and what the H200 was measured to be
/// capable of.
inline constexpr std::string_view law_sample = "h200-law";
inline constexpr std::string_view tiles_sample = "h200-tiles";
inline constexpr std::string_view race_sample = "h200-race";
inline constexpr std::string_view ceilings_sample = "h200-ceilings";

/// What a window or report is of: the sweeps, and what a GPU of their kind was measured to be capable of.
[[nodiscard]] std::vector<std::string> shown_samples();
/// What the lesson is of: exponents come of the law's points, bandwidths and latencies of the maps of tiles,
/// and the race of its own.
[[nodiscard]] std::vector<std::string> lesson_samples();
[[nodiscard]] std::vector<std::string> law_samples();

}  // namespace attnscope
