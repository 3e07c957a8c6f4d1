// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/l2_boundary.h"

#include <cmath>

namespace attnscope::analysis {

std::optional<L2Boundary> l2_boundary(const Algorithm& algorithm, const AttentionProblem& like, const Config& tile,
                                      const DeviceLimits& limits, const L2Transition& transition) {
  // Explicit length lists do not scale to other N.
  if (limits.l2_bytes <= 0 || like.mask.lengths == Mask::Lengths::list) return {};
  constexpr double shortest = 16;
  constexpr double longest = 1 << 24;
  constexpr double search_tolerance = 1.002;
  const auto working_set = [&](double n) {
    return static_cast<double>(
        algorithm.working_set_bytes(at_length(like, static_cast<std::int64_t>(n)), tile, limits));
  };
  const auto crossing = [&](double bytes) -> std::optional<double> {
    double low = shortest;
    double high = longest;
    if (working_set(low) > bytes || working_set(high) < bytes) return {};
    while (high / low > search_tolerance) {
      const double middle = std::sqrt(low * high);
      (working_set(middle) < bytes ? low : high) = middle;
    }
    return high;
  };
  const auto size = static_cast<double>(limits.l2_bytes);
  const auto low = crossing(transition.low * size);
  const auto high = crossing(transition.high * size);
  const auto nominal = crossing(size);
  if (!low || !high || !nominal) return {};
  return L2Boundary{.n_low = *low, .n_high = *high, .n_nominal = *nominal, .l2_bytes = size};
}

}  // namespace attnscope::analysis
