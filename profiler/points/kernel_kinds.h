// SPDX-License-Identifier: Apache-2.0
// Which kernels ran a point, as far as its tile does not say it: of two points of one map, whether one kernel ran both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/metrics/point.h"

namespace attnscope::analysis {

/// One launch of a point, without what is another for every tile.
struct LaunchKind {
  std::string launch;                ///< its name in the plan: "fwd"
  std::string source_file;           ///< "fa2/fa2_forward.cuh"
  std::string entry;                 ///< "attn_fa2_forward"
  std::vector<std::string> options;  ///< what it was compiled with but the extents of the tile, sorted: "ATTN_WARPS=4"

  auto operator<=>(const LaunchKind&) const = default;  // NOLINT(modernize-use-nullptr): 14 sees one here
};

/// Equal for points that the same kernels ran.
struct KernelKind {
  /// Empty where launches were not recorded: files of before, simulations, imports.
  std::vector<LaunchKind> launches;
  /// Of such a point the word for its algorithm, which for some old files says what ran; else empty.
  std::string algorithm;

  [[nodiscard]] bool recorded() const { return !launches.empty(); }
  auto operator<=>(const KernelKind&) const = default;  // NOLINT(modernize-use-nullptr): 14 sees one here
};

[[nodiscard]] KernelKind kernel_kind(const PointRecord&);

/// "attn_fa2_forward (fa2/fa2_forward.cuh), warps 4"; "not recorded".
[[nodiscard]] std::string describe(const KernelKind&);

/// What sets each of several kinds apart from the others, in as few words: "teams 2", "without teams", else as
/// describe() has it. Pre: they differ from one another.
[[nodiscard]] std::vector<std::string> distinguishing_words(std::span<const KernelKind>);

}  // namespace attnscope::analysis
