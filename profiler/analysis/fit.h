// SPDX-License-Identifier: Apache-2.0
// Fits of traffic against N for the IO-vs-N page. All by least squares on logarithms, so that each point's relative
// error weighs the same; intervals are Student's t at 95%.
#pragma once

#include <optional>
#include <span>

namespace attnscope {

struct Interval {
  double low = 0;
  double high = 0;
  [[nodiscard]] bool contains(double x) const { return low <= x && x <= high; }
};

/// y = coefficient * x^slope.
struct PowerFit {
  double slope = 0;
  Interval slope_interval;  ///< 95%; the whole line of reals when two points leave no degree of freedom
  double coefficient = 0;
  std::size_t points = 0;
};
/// Empty for fewer than two distinct x, or when any x or y is not positive and finite.
[[nodiscard]] std::optional<PowerFit> fit_power_law(std::span<const double> x, std::span<const double> y);

/// y = scale * model, with the model's own shape held fixed: the c of c N^2 d^2 / M.
struct ScaleFit {
  double scale = 0;         ///< geometric mean of y / model
  Interval scale_interval;  ///< 95%; [0, inf] for one point
  std::size_t points = 0;
};
/// Empty for no points, or when any value is not positive and finite.
[[nodiscard]] std::optional<ScaleFit> fit_scale(std::span<const double> model, std::span<const double> y);

}  // namespace attnscope
