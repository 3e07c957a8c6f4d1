// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/round_ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

constexpr double slack = 1e-9;  ///< of a step: a value that is written 0.3 is a tick of 0.1's

constexpr double most_counted = 9e15;  ///< beyond it doubles leave out whole numbers
constexpr double most_looked_at = 64;  ///< ticks: nobody asks for as many

std::vector<double> in_steps(double low, double high, double step) {
  std::vector<double> ticks;
  const double first = std::ceil(low / step - slack);
  const double last = std::min(std::floor(high / step + slack), first + most_looked_at);
  if (!(std::abs(first) < most_counted) || !(std::abs(last) < most_counted)) return ticks;
  for (auto i = static_cast<std::int64_t>(first); i <= static_cast<std::int64_t>(last); ++i) {
    ticks.push_back(static_cast<double>(i) * step);
  }
  return ticks;
}

std::vector<double> in_equal_steps(double low, double high, int most) {
  if (!(high > low) || !std::isfinite(high - low)) return {};
  const double power = std::pow(10, std::floor(std::log10((high - low) / std::max(1, most))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    std::vector<double> ticks = in_steps(low, high, factor * power);
    if (static_cast<int>(ticks.size()) <= most) return ticks;
  }
  return {};
}

std::vector<double> in_decades(double low, double high, const std::vector<double>& factors) {
  std::vector<double> ticks;
  for (double exponent = std::floor(std::log10(low)); exponent <= std::ceil(std::log10(high)); ++exponent) {
    for (const double factor : factors) {
      const double value = factor * std::pow(10, exponent);
      if (value >= low * (1 - slack) && value <= high * (1 + slack)) ticks.push_back(value);
    }
  }
  return ticks;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int most, bool logarithmic) {
  constexpr double decade = 10;
  if (!logarithmic || high < decade * low) return in_equal_steps(low, high, most);
  for (const std::vector<double>& factors : {std::vector{1.0, 2.0, 5.0}, std::vector{1.0, 3.0}, std::vector{1.0}}) {
    std::vector<double> ticks = in_decades(low, high, factors);
    if (static_cast<int>(ticks.size()) <= most) return ticks;
  }
  std::vector<double> powers = in_decades(low, high, {1.0});
  std::vector<double> ticks;
  const std::size_t step = (powers.size() + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  for (std::size_t i = 0; i < powers.size(); i += step) ticks.push_back(powers[i]);
  return ticks;
}

QStringList tick_labels(const std::vector<double>& ticks) {
  constexpr int most_decimals = 6;
  constexpr double widest = 100;
  const auto decimals_of = [](double tick) {
    int decimals = 0;
    for (double rest = std::abs(tick); decimals < most_decimals; ++decimals, rest *= 10) {
      if (std::abs(rest - std::round(rest)) <= slack * rest) break;
    }
    return decimals;
  };
  int most = 0;
  double low = HUGE_VAL;
  double high = 0;
  for (const double tick : ticks) {
    most = std::max(most, decimals_of(tick));
    if (tick != 0) low = std::min(low, std::abs(tick));
    high = std::max(high, std::abs(tick));
  }
  const bool alike = high <= widest * low;
  QStringList labels;
  for (const double tick : ticks) {
    const int decimals = alike ? most : decimals_of(tick);
    labels << (decimals == 0 || decimals == most_decimals ? format_number(tick) : QString::number(tick, 'f', decimals));
  }
  return labels;
}

}  // namespace attnscope::ui
