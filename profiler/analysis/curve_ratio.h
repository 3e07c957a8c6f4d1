// SPDX-License-Identifier: Apache-2.0
// How two curves stand to one another at one place.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "profiler/analysis/curves.h"
#include "profiler/analysis/point_table.h"

namespace attnscope::analysis {

struct CurveRatio {
  double at = 0;     ///< CurvePoint::n
  double first = 0;  ///< the curves' values there
  double second = 0;
  double factor = 1;        ///< the larger over the smaller
  bool first_less = false;  ///< which is the smaller
};
/// At the place nearest to `near`, by its logarithm, where both have a value above 0; nothing without one, or of curves
/// of two quantities.
[[nodiscard]] std::optional<CurveRatio> ratio_near(const Curve& first, const Curve& second, double near);

/// Whether the second of two points, which both have a row, is better by more than they scatter: bytes by the spread of
/// two counts of one launch, time and rate by a comparison's verdict that it is faster (verdicts.h).
[[nodiscard]] bool told_apart(const PointTable&, const CurvePoint& worse, const CurvePoint& better, Quantity);

/// Places of two curves, and how they stand to one another.
struct CurvePair {
  std::size_t first = 0;
  std::size_t second = 0;
  CurveRatio ratio;
};
/// Of measured curves of bytes, time or rate the two of one device that lie furthest apart at the last place that two
/// of them have, and are told apart there; where no device has two, those of one algorithm on two devices. DRAM's
/// before SM<->L2's.
[[nodiscard]] std::optional<CurvePair> widest_pair(const PointTable&, std::span<const Curve* const>);

}  // namespace attnscope::analysis
