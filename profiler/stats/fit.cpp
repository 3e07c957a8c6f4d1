// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/fit.h"

#include <Eigen/Dense>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "profiler/stats/sample_math.h"

namespace attnscope {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Relative QR pivot below which a column counts as linearly dependent.
constexpr double collinear_threshold = 1e-9;

// Returns the logarithms, or an empty vector if a value is not positive and finite.
std::vector<double> logs(std::span<const double> values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) return {};
    result.push_back(std::log(value));
  }
  return result;
}

double half_width(double standard_error, std::size_t degrees_of_freedom) {
  if (degrees_of_freedom == 0) return infinity;
  const boost::math::students_t distribution(static_cast<double>(degrees_of_freedom));
  return boost::math::quantile(distribution, 0.975) * standard_error;
}

}  // namespace

double PowerLawFit::worst() const {
  return std::abs(residuals[worst_point]);
}

double PowerLawFit::at(std::span<const double> x) const {
  double y = coefficient;
  for (std::size_t k = 0; k < exponents.size(); ++k) y *= std::pow(x[k], exponents[k]);
  return y;
}

std::optional<PowerLawFit> fit_power_law(std::span<const std::vector<double>> x, std::span<const double> y) {
  const std::vector<double> v = logs(y);
  const std::size_t n = y.size();
  const std::size_t terms = x.size() + 1;
  if (v.empty() || n < terms) return std::nullopt;

  // Center the columns: far from 1, uncentered ones are nearly multiples of the constant column.
  const auto rows = static_cast<Eigen::Index>(n);
  const auto variables = static_cast<Eigen::Index>(x.size());
  Eigen::MatrixXd a(rows, variables);
  Eigen::VectorXd means(variables);
  for (Eigen::Index k = 0; k < variables; ++k) {
    const std::vector<double> u = logs(x[static_cast<std::size_t>(k)]);
    if (u.size() != n) return std::nullopt;
    means(k) = analysis::mean_of(u);
    for (Eigen::Index i = 0; i < rows; ++i) a(i, k) = u[static_cast<std::size_t>(i)] - means(k);
  }
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(a);
  qr.setThreshold(collinear_threshold);
  if (qr.rank() < variables) return std::nullopt;
  const double v_mean = analysis::mean_of(v);
  const Eigen::VectorXd b = Eigen::Map<const Eigen::VectorXd>(v.data(), rows).array() - v_mean;
  const Eigen::VectorXd slopes = qr.solve(b);
  const Eigen::VectorXd off = b - (a * slopes);
  const Eigen::MatrixXd covariance = (a.transpose() * a).inverse();

  const std::size_t dof = n - terms;
  const double variance = dof > 0 ? off.squaredNorm() / static_cast<double>(dof) : 0;
  const auto around = [&](double value, double share) {
    const double half = half_width(std::sqrt(variance * share), dof);
    return Interval{value - half, value + half};
  };
  PowerLawFit fit;
  for (Eigen::Index k = 0; k < variables; ++k) {
    fit.exponents.push_back(slopes(k));
    fit.intervals.push_back(around(slopes(k), covariance(k, k)));
  }
  fit.coefficient = std::exp(v_mean - slopes.dot(means));
  for (Eigen::Index i = 0; i < rows; ++i) {
    fit.residuals.push_back(std::expm1(off(i)));
    if (std::abs(fit.residuals.back()) > fit.worst()) fit.worst_point = static_cast<std::size_t>(i);
  }
  return fit;
}

}  // namespace attnscope
