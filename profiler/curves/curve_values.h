// SPDX-License-Identifier: Apache-2.0
// The value of a point on a curve over N, and whether two of them differ.
#pragma once

#include <optional>

#include "profiler/curves/curves.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// A value and how far its samples scatter.
struct Reading {
  double value = 0;
  double low = 0;
  double high = 0;
  Provenance provenance = Provenance::measured;
};
/// Nothing of a point whose end leaves it none, and of what is not above 0.
[[nodiscard]] std::optional<Reading> read_value(const PointTable&, Row, Quantity);

/// Whether the second of two points, which both have a row, is better by more than they scatter: bytes by the spread of
/// two counts of one launch, time and rate by a comparison's verdict that it is faster (verdicts.h).
[[nodiscard]] bool told_apart(const PointTable&, const CurvePoint& worse, const CurvePoint& better, Quantity);

}  // namespace attnscope::analysis
