// SPDX-License-Identifier: Apache-2.0
// What the compared points of two sides were made under. Internal to the comparison.
#pragma once

#include "profiler/compare/comparison.h"

namespace attnscope::analysis {

/// Of the pairs that stand in the result: GPUs, origins, clocks, versions, sources.
void add_differences(const PointTable& table, const ComparisonRequest& request, ComparisonResult& result);

}  // namespace attnscope::analysis
