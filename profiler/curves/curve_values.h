// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "profiler/curves/curves.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

struct Reading {
  double value = 0;
  double low = 0;
  double high = 0;
  Provenance provenance = Provenance::measured;
};
/// Returns nullopt if the point has no value or the value is not positive.
[[nodiscard]] std::optional<Reading> read_value(const PointTable&, Row, Quantity);

/// Returns whether `better` is significantly better than `worse`; both points have a row. Bytes: by more than the count
/// spread. Time and rate: verdict FASTER (verdicts.h).
[[nodiscard]] bool differs_significantly(const PointTable&, const CurvePoint& worse, const CurvePoint& better,
                                         Quantity);

}  // namespace attnscope::analysis
