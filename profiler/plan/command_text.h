// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/plan/point_spec.h"

namespace attnscope {

/// One axis per value: "algorithm=fa2", "N=4096", "tile=128x64", ... parse_axis() and a sweep make the same point from
/// them. Omits default values and an unknown tile.
[[nodiscard]] std::vector<std::string> axis_arguments(const PointSpec&);
/// Quotes an argument for a POSIX shell if needed.
[[nodiscard]] std::string shell_quoted(const std::string& word);
/// "attnscope collect -a algorithm=fa2 ... -o point.attnscope", shell-quoted.
[[nodiscard]] std::string collect_command(const PointSpec&);
/// "attnscope collect --rounds 10 -a algorithm=fa2 ... -o rounds.attnscope"
[[nodiscard]] std::string rounds_command(const PointSpec&, std::size_t rounds,
                                         std::string_view file = "rounds.attnscope");
/// "attnscope collect --preset quick --rounds 10 -o rounds.attnscope"; a loop over several presets.
[[nodiscard]] std::string preset_command(const std::vector<std::string>& presets, std::size_t rounds);
/// The same for several points, with one axis per name: "N=[1024,2048]". Empty if the sweep would measure more than
/// four times as many points.
[[nodiscard]] std::string sweep_command(std::span<const PointSpec> points, std::size_t rounds);
/// Options of an interleaved comparison of two points; default values are omitted from the command.
struct InterleavedOptions {
  std::size_t rounds = 0;
  double margin = 0.01;
  std::size_t samples = 10;
};
/// "attnscope ab --baseline algorithm=fa2 N=4096 br=64 ... --candidate algorithm=fa2 N=4096 br=128 ... --rounds 40".
/// Empty if the points' cache states differ, which `ab` does not support.
[[nodiscard]] std::string interleaved_command(const PointSpec& base, const PointSpec& other,
                                              const InterleavedOptions& options);
/// "attnscope launch algorithm=fa2 ...": runs only the point's kernels, for use under a profiler.
[[nodiscard]] std::string launch_command(const PointSpec&);

}  // namespace attnscope
