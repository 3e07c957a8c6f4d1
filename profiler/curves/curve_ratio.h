// SPDX-License-Identifier: Apache-2.0
// Whether points of two curves differ.
#pragma once

#include "profiler/curves/curves.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Whether the second of two points, which both have a row, is better by more than they scatter: bytes by the spread of
/// two counts of one launch, time and rate by a comparison's verdict that it is faster (verdicts.h).
[[nodiscard]] bool told_apart(const PointTable&, const CurvePoint& worse, const CurvePoint& better, Quantity);

}  // namespace attnscope::analysis
