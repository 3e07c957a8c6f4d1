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
