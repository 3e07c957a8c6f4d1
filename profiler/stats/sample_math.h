// SPDX-License-Identifier: Apache-2.0
// Means and logarithms of samples; Student's t and normal distributions in double precision.
#pragma once

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace attnscope::analysis {

/// Degrees of freedom above which Student's t is treated as normal.
inline constexpr double max_student_dof = 1e6;

/// Avoids boost's promotion to long double, which is several times slower.
using DoublePolicy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentT = boost::math::students_t_distribution<double, DoublePolicy>;
inline const boost::math::normal_distribution<double, DoublePolicy> standard_normal;

[[nodiscard]] inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
[[nodiscard]] inline std::vector<double> logs_of(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}
/// Returns the variance of a sample with this mean; 0 for fewer than two values.
[[nodiscard]] inline double sample_variance(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() < 2 ? 0 : squares / static_cast<double>(values.size() - 1);
}

}  // namespace attnscope::analysis
