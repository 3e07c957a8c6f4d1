// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace attnscope {
namespace {

TEST(PowerFit, AnExactPowerLawIsFoundWithNoWidth) {
  const std::vector<double> n{256, 512, 1024, 2048, 4096};
  std::vector<double> bytes = n;
  for (double& x : bytes) x *= 12 * x;
  const auto fit = fit_power_law(n, bytes);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->slope, 2, 1e-12);
  EXPECT_NEAR(fit->coefficient, 12, 1e-9);
  EXPECT_NEAR(fit->slope_interval.low, 2, 1e-10);
  EXPECT_NEAR(fit->slope_interval.high, 2, 1e-10);
  EXPECT_EQ(fit->points, 5U);
}

// By hand: u = 0 1 2 3, v = u + (0.1, -0.1, -0.1, 0.1). Sxx = 5, Sxv = 5, so the slope is 1; residual sum 0.04 over 2
// degrees of freedom, standard error sqrt(0.02 / 5); t(0.975, 2) = 4.302653.
TEST(PowerFit, TheIntervalIsStudentsT) {
  const std::vector<double> x{1, std::exp(1), std::exp(2), std::exp(3)};
  const std::vector<double> y{std::exp(0.1), std::exp(0.9), std::exp(1.9), std::exp(3.1)};
  const auto fit = fit_power_law(x, y);
  ASSERT_TRUE(fit.has_value());
  const double half = 4.30265273 * std::sqrt(0.02 / 5);
  EXPECT_NEAR(fit->slope, 1, 1e-12);
  EXPECT_NEAR(fit->coefficient, 1, 1e-12);
  EXPECT_NEAR(fit->slope_interval.low, 1 - half, 1e-7);
  EXPECT_NEAR(fit->slope_interval.high, 1 + half, 1e-7);
}

TEST(PowerFit, TwoPointsMakeALineOfUnknownWidth) {
  const auto fit = fit_power_law(std::vector<double>{1, 2}, std::vector<double>{3, 24});
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->slope, 3, 1e-12);
  EXPECT_TRUE(fit->slope_interval.contains(-1e300));
  EXPECT_TRUE(fit->slope_interval.contains(1e300));
}

TEST(PowerFit, WhatHasNoLogarithmOrNoSpreadHasNoFit) {
  using Values = std::vector<double>;
  EXPECT_FALSE(fit_power_law(Values{}, Values{}).has_value());
  EXPECT_FALSE(fit_power_law(Values{1}, Values{1}).has_value());
  EXPECT_FALSE(fit_power_law(Values{2, 2}, Values{1, 3}).has_value());
  EXPECT_FALSE(fit_power_law(Values{1, 2}, Values{1, 0}).has_value());
  EXPECT_FALSE(fit_power_law(Values{1, -2}, Values{1, 1}).has_value());
  EXPECT_FALSE(fit_power_law(Values{1, 2}, Values{1, std::numeric_limits<double>::infinity()}).has_value());
  EXPECT_FALSE(fit_power_law(Values{1, 2, 3}, Values{1, 2}).has_value());
}

/// A column a variable.
using Columns = std::vector<std::vector<double>>;

TEST(PowersFit, OfOneVariableItIsThePowerLaw) {
  const std::vector<double> x{1, std::exp(1), std::exp(2), std::exp(3)};
  const std::vector<double> y{std::exp(0.1), std::exp(0.9), std::exp(1.9), std::exp(3.1)};
  const auto one = fit_power_law(x, y);
  const auto fit = fit_powers(Columns{x}, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->exponents[0], one->slope, 1e-12);
  EXPECT_NEAR(fit->intervals[0].low, one->slope_interval.low, 1e-9);
  EXPECT_NEAR(fit->intervals[0].high, one->slope_interval.high, 1e-9);
  EXPECT_NEAR(fit->coefficient, one->coefficient, 1e-12);
  // By hand, at u = 0: the variance of the constant is s^2 (1/4 + 1.5^2/5), s^2 = 0.02.
  EXPECT_NEAR(std::log(fit->coefficient_interval.high), 4.30265273 * std::sqrt(0.02 * (0.25 + 2.25 / 5)), 1e-7);
  EXPECT_NEAR(fit->residuals[0], std::expm1(0.1), 1e-12);
  EXPECT_NEAR(fit->worst(), std::expm1(0.1), 1e-12) << "0.1 up is more than 0.1 down";
  // By hand: leverage 0.7 at the ends, where the others leave a variance of 0.04 - 0.01/0.3 = 1/150; t(1 - 0.025/4, 1).
  EXPECT_NEAR(fit->worst_errors, 0.1 / std::sqrt(0.3 / 150), 1e-9);
  EXPECT_NEAR(fit->errors_limit, 1 / std::tan(0.00625 * 3.14159265358979), 1e-6);
}

TEST(PowersFit, AnExactLawOfTwoVariablesIsFoundFarFromOne) {
  std::vector<double> n;
  std::vector<double> m;
  std::vector<double> y;
  for (const double a : {4096.0, 8192.0, 16384.0}) {
    for (const double b : {1e5, 2e5, 5e5}) {
      n.push_back(a);
      m.push_back(b);
      y.push_back(7 * a * a / b);
    }
  }
  const auto fit = fit_powers(Columns{n, m}, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->exponents[0], 2, 1e-12);
  EXPECT_NEAR(fit->exponents[1], -1, 1e-12);
  EXPECT_NEAR(fit->coefficient, 7, 1e-9);
  EXPECT_NEAR(fit->at(std::vector{1000.0, 10.0}), 7e5, 1e-4);
  EXPECT_LT(fit->worst(), 1e-12);
}

TEST(PowersFit, VariablesThatMoveTogetherHaveNone) {
  const std::vector<double> n{1, 2, 4, 8, 16};
  std::vector<double> square = n;
  for (double& value : square) value *= value;
  const std::vector<double> y{1, 3, 9, 27, 81};
  EXPECT_FALSE(fit_powers(Columns{n, square}, y).has_value());
  EXPECT_FALSE(fit_powers(Columns{n, std::vector<double>(5, 3.0)}, y).has_value());
  EXPECT_FALSE(fit_powers(Columns{n, {1.0, 2.0}}, y).has_value());
  EXPECT_FALSE(fit_powers(Columns{{1, 2}}, std::vector<double>{1}).has_value());
  EXPECT_FALSE(fit_powers(Columns{{1, -2, 3}}, std::vector<double>{1, 2, 3}).has_value());
}

TEST(LawFit, AnExactLawIsFoundWithItsLowerOrder) {
  const std::vector<double> law{1e6, 4e6, 16e6, 64e6};
  const std::vector<double> lower{1e3, 2e3, 4e3, 8e3};
  std::vector<double> y(4);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * law[i] + 30 * lower[i];
  const auto fit = fit_law(law, lower, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->scale, 2, 1e-9);
  EXPECT_NEAR(fit->below, 30, 1e-6);
  EXPECT_NEAR(fit->relative_half_width(), 0, 1e-9);
  EXPECT_NEAR(fit->worst, 0, 1e-9);
  EXPECT_EQ(fit->points, 4U);
}

// By hand: of one term the columns over y are law / y = 1/0.9, 1, 1/1.1; c = sum a / sum a². Residuals 1 - c a, their
// squares over 2 degrees of freedom and over sum a² give the standard error; t(0.975, 2) = 4.302653.
TEST(LawFit, TheIntervalIsStudentsT) {
  const std::vector<double> law{1, 2, 4};
  const std::vector<double> y{0.9, 2, 4.4};
  const std::vector<double> a{1 / 0.9, 1, 1 / 1.1};
  const double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
  const double c = (a[0] + a[1] + a[2]) / aa;
  double squares = 0;
  for (const double x : a) squares += (1 - c * x) * (1 - c * x);
  const auto fit = fit_law(law, {}, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->scale, c, 1e-12);
  const double half = 4.30265273 * std::sqrt(squares / 2 / aa);
  EXPECT_NEAR(fit->scale_interval.high, c + half, 1e-7);
  EXPECT_NEAR(fit->scale_interval.low, c - half, 1e-7);
  EXPECT_NEAR(fit->worst, 4.4 / (4 * c) - 1, 1e-12);
  EXPECT_EQ(fit->worst_point, 2U);
  EXPECT_EQ(fit->below, 0);
}

TEST(LawFit, WithoutADegreeOfFreedomNothingIsKnownOfItsWidth) {
  const auto fit = fit_law(std::vector<double>{1, 4}, std::vector<double>{1, 2}, std::vector<double>{3, 10});
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->scale, 2, 1e-12);
  EXPECT_NEAR(fit->below, 1, 1e-12);
  EXPECT_TRUE(fit->scale_interval.contains(1e300));
}

TEST(LawFit, WhatCannotBeToldApartHasNoFit) {
  using Values = std::vector<double>;
  EXPECT_FALSE(fit_law(Values{1, 2, 4}, Values{2, 4, 8}, Values{1, 2, 4}).has_value()) << "one term twice";
  EXPECT_FALSE(fit_law(Values{}, Values{}, Values{}).has_value());
  EXPECT_FALSE(fit_law(Values{1, 2}, Values{1, 2, 3}, Values{1, 2}).has_value());
  EXPECT_FALSE(fit_law(Values{1, 0}, Values{}, Values{1, 2}).has_value());
  EXPECT_FALSE(fit_law(Values{1, 2}, Values{}, Values{1, std::numeric_limits<double>::infinity()}).has_value());
}

}  // namespace
}  // namespace attnscope
