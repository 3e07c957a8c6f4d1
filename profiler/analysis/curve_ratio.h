// SPDX-License-Identifier: Apache-2.0
// How two curves stand to one another at one place.
#pragma once

#include <optional>

#include "profiler/analysis/curves.h"

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

}  // namespace attnscope::analysis
