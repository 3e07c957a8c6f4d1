// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/variance_prior.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <map>

namespace attnscope::analysis {
namespace {

constexpr double infinite_dof = std::numeric_limits<double>::infinity();
/// Degrees of freedom above which the prior is treated as a single variance.
constexpr double max_prior_dof = 1e6;

/// Returns E[log s^2] - log sigma^2 of a sample variance.
double log_variance_bias(double dof) {
  return boost::math::digamma(dof / 2) - std::log(dof / 2);
}

/// Returns x with trigamma(x) = y. Newton's method on 1 / trigamma, which is convex and nearly linear.
double inverse_trigamma(double y) {
  double x = 0.5 + 1 / y;
  for (int turn = 0; turn < 50; ++turn) {
    const double value = boost::math::trigamma(x);
    const double change = value * (1 - value / y) / boost::math::polygamma(2, x);
    x += change;
    if (std::abs(change) < 1e-9 * x) break;
  }
  return x;
}

/// Returns the ratio to the prior variance that any of `rows` rows exceeds with 5% probability.
double outlier_ratio(double dof, const VariancePrior& prior, double rows) {
  const double tail = 0.05 / rows;
  if (prior.dof < max_prior_dof) {
    return boost::math::quantile(boost::math::complement(boost::math::fisher_f(dof, prior.dof), tail));
  }
  return boost::math::quantile(boost::math::complement(boost::math::chi_squared(dof), tail)) / dof;
}

}  // namespace

VariancePrior fit_variance_prior(std::span<const VarianceEstimate> found, double least) {
  double rows = 0;
  double sum = 0;
  double squares = 0;
  double sampling = 0;  // sampling variance of the logarithms
  for (const VarianceEstimate& row : found) {
    if (!(row.dof > 0)) continue;
    const double log = std::log(std::max(row.variance, least)) - log_variance_bias(row.dof);
    ++rows;
    sum += log;
    squares += log * log;
    sampling += boost::math::trigamma(row.dof / 2);
  }
  if (rows < 2) return {};
  const double mean = sum / rows;
  const double excess_variance = (squares - rows * mean * mean) / (rows - 1) - sampling / rows;
  if (!(excess_variance > 1e-6)) return {.variance = std::exp(mean), .dof = infinite_dof};
  const double dof = 2 * inverse_trigamma(excess_variance);
  return {.variance = std::exp(mean + log_variance_bias(dof)), .dof = dof};
}

std::vector<VarianceEstimate> moderate(std::span<const VarianceEstimate> found, double least) {
  const VariancePrior prior = fit_variance_prior(found, least);
  double all = 0;
  double rows = 0;
  for (const VarianceEstimate& row : found) {
    if (!(row.dof > 0)) continue;
    all += row.dof;
    ++rows;
  }
  std::map<double, double> largest;  // key: degrees of freedom, which most rows share
  const auto beyond = [&](const VarianceEstimate& row) {
    const auto [place, first] = largest.try_emplace(row.dof);
    if (first) place->second = outlier_ratio(row.dof, prior, rows);
    return row.variance > place->second * prior.variance;
  };
  std::vector<VarianceEstimate> result;
  result.reserve(found.size());
  for (VarianceEstimate row : found) {
    row.variance = std::max(row.variance, least);
    if (row.dof > 0 && prior.dof > 0 && !beyond(row)) {
      const double total = row.dof + prior.dof;
      row.variance =
          prior.dof < max_prior_dof ? (row.dof * row.variance + prior.dof * prior.variance) / total : prior.variance;
      row.dof = std::min(total, all);
    }
    result.push_back(row);
  }
  return result;
}

}  // namespace attnscope::analysis
