// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/variance_prior.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

namespace attnscope::analysis {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();
/// Degrees of freedom above which the prior is treated as a single variance.
constexpr double as_good_as_no_end = 1e6;

/// Returns E[log s^2] - log sigma^2 of a sample variance.
double bias_of_log(double freedom) {
  return boost::math::digamma(freedom / 2) - std::log(freedom / 2);
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
double largest_ratio(double freedom, const VariancePrior& prior, double rows) {
  const double tail = 0.05 / rows;
  if (prior.freedom < as_good_as_no_end) {
    return boost::math::quantile(boost::math::complement(boost::math::fisher_f(freedom, prior.freedom), tail));
  }
  return boost::math::quantile(boost::math::complement(boost::math::chi_squared(freedom), tail)) / freedom;
}

}  // namespace

VariancePrior fit_variance_prior(std::span<const FoundVariance> found, double least) {
  double rows = 0;
  double sum = 0;
  double squares = 0;
  double sampling = 0;  // sampling variance of the logarithms
  for (const FoundVariance& row : found) {
    if (!(row.freedom > 0)) continue;
    const double log = std::log(std::max(row.variance, least)) - bias_of_log(row.freedom);
    ++rows;
    sum += log;
    squares += log * log;
    sampling += boost::math::trigamma(row.freedom / 2);
  }
  if (rows < 2) return {};
  const double mean = sum / rows;
  const double beyond_chance = (squares - rows * mean * mean) / (rows - 1) - sampling / rows;
  if (!(beyond_chance > 1e-6)) return {.variance = std::exp(mean), .freedom = no_end};
  const double freedom = 2 * inverse_trigamma(beyond_chance);
  return {.variance = std::exp(mean + bias_of_log(freedom)), .freedom = freedom};
}

std::vector<FoundVariance> moderated(std::span<const FoundVariance> found, double least) {
  const VariancePrior prior = fit_variance_prior(found, least);
  double all = 0;
  double rows = 0;
  for (const FoundVariance& row : found) {
    if (!(row.freedom > 0)) continue;
    all += row.freedom;
    ++rows;
  }
  std::map<double, double> largest;  // key: degrees of freedom, which most rows share
  const auto beyond = [&](const FoundVariance& row) {
    const auto [place, first] = largest.try_emplace(row.freedom);
    if (first) place->second = largest_ratio(row.freedom, prior, rows);
    return row.variance > place->second * prior.variance;
  };
  std::vector<FoundVariance> result;
  result.reserve(found.size());
  for (FoundVariance row : found) {
    row.variance = std::max(row.variance, least);
    if (row.freedom > 0 && prior.freedom > 0 && !beyond(row)) {
      const double total = row.freedom + prior.freedom;
      row.variance = prior.freedom < as_good_as_no_end
                         ? (row.freedom * row.variance + prior.freedom * prior.variance) / total
                         : prior.variance;
      row.freedom = std::min(total, all);
    }
    result.push_back(row);
  }
  return result;
}

}  // namespace attnscope::analysis
