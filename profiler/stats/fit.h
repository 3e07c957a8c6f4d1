// SPDX-License-Identifier: Apache-2.0
// Power-law fits of traffic and time. Least squares of logarithms, so relative errors of all points weigh the same; 95%
// intervals from Student's t.
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
struct PowerLawFit {
  std::vector<double> exponents;    ///< one per variable
  std::vector<Interval> intervals;  ///< 95%; infinite with zero degrees of freedom
  double coefficient = 0;
  std::vector<double> residuals;  ///< y / fit - 1 per point
  std::size_t worst_point = 0;    ///< index of the residual of largest magnitude

  [[nodiscard]] double worst() const;
  [[nodiscard]] double at(std::span<const double> x) const;
};
/// Fits y to one column per variable, each as long as y. Returns nullopt if there are fewer points than coefficients,
/// if a value is not positive and finite, or if the variables are collinear.
[[nodiscard]] std::optional<PowerLawFit> fit_power_law(std::span<const std::vector<double>> x,
                                                       std::span<const double> y);

}  // namespace attnscope
