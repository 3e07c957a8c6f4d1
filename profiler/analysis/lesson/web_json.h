// SPDX-License-Identifier: Apache-2.0
// What the files that make the page's JSON share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/analysis/lesson/player.h"

namespace attnscope::analysis::lesson {

/// Gives `played` the tiles of one head's S as "pairs": [rows, columns], and each of its "frames", a round each, the
/// tiles that it works on as "p": [[row, column, rows, columns], ...], heads one below the other.
void add_pairs(nlohmann::json& played, const TilePlayer&);

}  // namespace attnscope::analysis::lesson
