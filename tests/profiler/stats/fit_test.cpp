// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace attnscope {
namespace {

/// One column per variable.
using Columns = std::vector<std::vector<double>>;

TEST(PowerLawFit, FitsOneVariable) {
  const std::vector<double> x{1, std::exp(1), std::exp(2), std::exp(3)};
  const std::vector<double> y{std::exp(0.1), std::exp(0.9), std::exp(1.9), std::exp(3.1)};
  // u = 0 1 2 3, v = u + (0.1, -0.1, -0.1, 0.1). Sxx = 5, Sxv = 5, so the slope is 1; residual sum 0.04 over 2 degrees
  // of freedom, standard error sqrt(0.02 / 5); t(0.975, 2) = 4.302653.
  const double half = 4.30265273 * std::sqrt(0.02 / 5);
  const auto fit = fit_power_law(Columns{x}, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->exponents[0], 1, 1e-12);
  EXPECT_NEAR(fit->intervals[0].low, 1 - half, 1e-7);
  EXPECT_NEAR(fit->intervals[0].high, 1 + half, 1e-7);
  EXPECT_NEAR(fit->coefficient, 1, 1e-12);
  EXPECT_NEAR(fit->residuals[0], std::expm1(0.1), 1e-12);
  EXPECT_NEAR(fit->worst(), std::expm1(0.1), 1e-12) << "0.1 up is more than 0.1 down";
}

TEST(PowerLawFit, FitsTwoVariablesFarFromOne) {
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
  const auto fit = fit_power_law(Columns{n, m}, y);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->exponents[0], 2, 1e-12);
  EXPECT_NEAR(fit->exponents[1], -1, 1e-12);
  EXPECT_NEAR(fit->coefficient, 7, 1e-9);
  EXPECT_NEAR(fit->at(std::vector{1000.0, 10.0}), 7e5, 1e-4);
  EXPECT_LT(fit->worst(), 1e-12);
}

TEST(PowerLawFit, RejectsCollinearVariables) {
  const std::vector<double> n{1, 2, 4, 8, 16};
  std::vector<double> square = n;
  for (double& value : square) value *= value;
  const std::vector<double> y{1, 3, 9, 27, 81};
  EXPECT_FALSE(fit_power_law(Columns{n, square}, y).has_value());
  EXPECT_FALSE(fit_power_law(Columns{n, std::vector<double>(5, 3.0)}, y).has_value());
  EXPECT_FALSE(fit_power_law(Columns{n, {1.0, 2.0}}, y).has_value());
  EXPECT_FALSE(fit_power_law(Columns{{1, 2}}, std::vector<double>{1}).has_value());
  EXPECT_FALSE(fit_power_law(Columns{{1, -2, 3}}, std::vector<double>{1, 2, 3}).has_value());
}

}  // namespace
}  // namespace attnscope
