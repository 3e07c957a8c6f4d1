// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/fitted_law.h"

#include <cmath>
#include <utility>
#include <vector>

namespace attnscope::analysis {
namespace {

/// Two orders of growth closer than this cannot be told apart by a fit.
constexpr double apart = 0.5;

}  // namespace

double FittedLaw::bytes(std::int64_t n) const {
  return (fit->scale * law.bytes(n)) + (law.lower.empty() ? 0 : fit->below * law.lower_bytes(n));
}

FittedLaw fit_growth(Law law, std::span<const std::int64_t> lengths, std::span<const double> bytes) {
  FittedLaw result;
  std::vector<double> n;
  std::vector<double> y;
  std::vector<double> leading;
  std::vector<double> lower;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < law.from) continue;
    if (result.points++ == 0) result.first = lengths[i];
    n.push_back(static_cast<double>(lengths[i]));
    y.push_back(bytes[i]);
    leading.push_back(law.bytes(lengths[i]));
    if (!law.lower.empty()) lower.push_back(law.lower_bytes(lengths[i]));
  }
  result.law = std::move(law);
  result.power = fit_power_law(n, y);
  const auto refuse = [&](FitRefusal why) {
    result.refusal = why;
    return result;
  };
  if (result.points < fewest_fitted) return refuse(FitRefusal::too_few);
  // Under a window the pairs grow as N does: there is one order, not two.
  const auto leading_power = fit_power_law(n, leading);
  const auto lower_power = fit_power_law(n, lower);
  if (leading_power && lower_power && leading_power->slope - lower_power->slope < apart) {
    lower.clear();
    result.law.lower.clear();
  }
  result.fit = fit_law(leading, lower, y);
  if (!result.fit) return refuse(FitRefusal::not_seen);
  const LawFit& fit = *result.fit;
  result.worst_n = static_cast<std::int64_t>(n[fit.worst_point]);
  if (fit.scale_interval.low <= 0) return refuse(FitRefusal::not_seen);
  if (!lower.empty() && fit.below_interval.high < 0) return refuse(FitRefusal::steeper);
  if (fit.worst > std::max(fit.relative_half_width(), good_enough)) return refuse(FitRefusal::misses);
  return result;
}

}  // namespace attnscope::analysis
