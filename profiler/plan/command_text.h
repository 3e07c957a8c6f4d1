// SPDX-License-Identifier: Apache-2.0
// A point as the command line takes it, to be measured again elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/plan/point_spec.h"

namespace attnscope {

/// "algorithm=fa2", "N=4096", "tile=128x64", ...: an axis of one value each, by which parse_axis() and a sweep make
/// exactly this point again. What goes without saying is left out; a tile that is not stated as well.
[[nodiscard]] std::vector<std::string> axis_texts(const PointSpec&);
/// As a shell takes it for one word.
[[nodiscard]] std::string shell_quoted(const std::string& word);
/// "attnscope collect -a algorithm=fa2 ... -o point.attnscope", with quotes where a shell needs them.
[[nodiscard]] std::string collect_command(const PointSpec&);
/// "attnscope collect --rounds 10 -a algorithm=fa2 ... -o rounds.attnscope"
[[nodiscard]] std::string rounds_command(const PointSpec&, std::size_t rounds);
/// How two points are measured in turns; what is the command's default goes without saying.
struct TurnsOptions {
  std::size_t rounds = 0;
  double margin = 0.01;
  std::size_t samples = 10;
};
/// "attnscope ab --base algorithm=fa2 N=4096 br=64 ... --with algorithm=fa2 N=4096 br=128 ... --rounds 40". Empty for
/// points of different caches, which no one command has.
[[nodiscard]] std::string turns_command(const PointSpec& base, const PointSpec& other, const TurnsOptions& options);
/// "attnscope launch algorithm=fa2 ...": the same point's kernels bare, for profilers.
[[nodiscard]] std::string launch_command(const PointSpec&);

}  // namespace attnscope
