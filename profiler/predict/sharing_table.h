// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "profiler/points/table.h"
#include "profiler/predict/sharing.h"

namespace attnscope::analysis {

/// Programs read numbers in base units. The points' table has to outlive it.
[[nodiscard]] Table sharing_table(const PointTable&, std::vector<SharedPoint>, bool people = true);

}  // namespace attnscope::analysis
