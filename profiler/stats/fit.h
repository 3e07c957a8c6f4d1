// SPDX-License-Identifier: Apache-2.0
// Fits of traffic against N. In all of them each point's relative error weighs the same; intervals are Student's t at
// 95%.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

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

/// y = scale * law + below * lower: a law whose shape is held fixed, and the order below it, without which the scale of
/// a law that is exact would depend on how short the shortest N is.
struct LawFit {
  double scale = 0;
  Interval scale_interval;  ///< 95%; the whole line of reals without a degree of freedom
  double below = 0;         ///< 0 without a lower order
  Interval below_interval;
  double worst = 0;             ///< the largest |y / fit - 1|
  std::size_t worst_point = 0;  ///< where that is
  std::size_t points = 0;

  /// Half the interval of the scale, relative to it.
  [[nodiscard]] double relative_half_width() const { return (scale_interval.high - scale) / scale; }
};
/// `lower` is empty for a law of one term. Empty for fewer points than terms, when any value is not positive and
/// finite, and where law and lower order are proportional to one another.
[[nodiscard]] std::optional<LawFit> fit_law(std::span<const double> law, std::span<const double> lower,
                                            std::span<const double> y);

/// y = coefficient * product over k of x_k^exponent_k, by least squares of the logarithms.
struct PowersFit {
  std::vector<double> exponents;    ///< one a variable
  std::vector<Interval> intervals;  ///< 95%; the whole line of reals without a degree of freedom
  double coefficient = 0;
  Interval coefficient_interval;  ///< 95%
  std::vector<double> residuals;  ///< y over the fit, less 1: one a point
  std::size_t worst_point = 0;    ///< with the largest of them in magnitude
  /// The largest residual in standard errors of what the other points say there, and what, of so many points that
  /// scatter alike, it stays below 19 times of 20. 0 where fewer than two degrees of freedom leave nothing to say.
  double worst_errors = 0;
  double errors_limit = 0;

  /// The largest magnitude of a residual.
  [[nodiscard]] double worst() const;
  /// The fit's y where the variables have these values.
  [[nodiscard]] double at(std::span<const double> x) const;
};
/// `x`: a column a variable, each as long as y. Empty for fewer points than numbers to be found, when any value is not
/// positive and finite, and where the variables do not vary independently.
[[nodiscard]] std::optional<PowersFit> fit_powers(std::span<const std::vector<double>> x, std::span<const double> y);

}  // namespace attnscope
