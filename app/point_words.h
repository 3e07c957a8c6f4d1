// SPDX-License-Identifier: Apache-2.0
// A point as it is given on the command line.
#pragma once

#include <string>
#include <vector>

#include "profiler/plan/point_spec.h"

namespace attnscope {

/// "N=4096", "d=128", "algorithm=fa2", "br=128": every field that is not what goes without saying, and the knobs.
[[nodiscard]] std::vector<std::string> axis_words(const PointSpec&);
/// The word as a shell takes it, in quotation marks where it has to.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace attnscope
