// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/fitted_law.h"
#include "kernels/registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

Law law_for(const char* algorithm, Pass pass, const char* mask = "full", const TileShape& tile = {128, 64}) {
  AttentionProblem problem = fixtures::spec(algorithm, 4096).problem;
  problem.pass = pass;
  problem.mask = *parse_mask(mask);
  return built_in_algorithms().find(algorithm)->law(problem, tile, fixtures::h200());
}

TEST(Laws, EachAlgorithmHasItsOwn) {
  EXPECT_EQ(law_for("naive", Pass::fwd).text, "N²");
  EXPECT_EQ(law_for("fa1", Pass::fwd).text, "N²d²/M");
  EXPECT_EQ(law_for("fa1", Pass::bwd).text, "N²d²/M");
  EXPECT_EQ(law_for("fa2", Pass::fwd).text, "N²d/Br");
  EXPECT_EQ(law_for("fa2", Pass::bwd).text, "N²d/Bc") << "its K/V tiles stay, Q and dQ pass by";
  EXPECT_EQ(law_for("fa3", Pass::fwd).text, "N²d/Br");
  EXPECT_EQ(law_for("fa3", Pass::bwd).text, "N²d/Bc");
  EXPECT_EQ(law_for("fa2", Pass::fwd, "causal").text, "N²d/Br");
  EXPECT_EQ(law_for("fa2", Pass::fwd, "window:255:0").text, "P·d/Br");
  EXPECT_EQ(law_for("naive", Pass::fwd, "window:255:0").text, "N²");
  const PointSpec decode = fixtures::decode_spec("naive", 4096);
  EXPECT_EQ(built_in_algorithms().find("naive")->law(decode.problem, decode.tile, fixtures::h200()).text, "n_k·d");
}

TEST(Laws, CountBytesOverAllHeads) {
  const Law fa2 = law_for("fa2", Pass::fwd);
  EXPECT_DOUBLE_EQ(fa2.bytes(4096), 132.0 * 4096 * 4096 * 128 / 128 * 2);
  EXPECT_DOUBLE_EQ(fa2.lower_bytes(4096), 132.0 * 4096 * 128 * 2);
  EXPECT_EQ(fa2.from, 512) << "four tiles of 128 rows";
  const Law fa1 = law_for("fa1", Pass::fwd);
  const double m = 232448 / 2.0;  // 227 KiB of shared memory, in elements of 16 bits
  EXPECT_DOUBLE_EQ(fa1.bytes(4096), 132.0 * 4096 * 4096 * 128 * 128 / m * 2);
  EXPECT_EQ(fa1.from, static_cast<std::int64_t>(std::ceil(m / 128)));
  const PointSpec decode = fixtures::decode_spec("fa2", 4096);
  const Law keys = built_in_algorithms().find("fa2")->law(decode.problem, decode.tile, fixtures::h200());
  EXPECT_DOUBLE_EQ(keys.bytes(8192), 16.0 * 8192 * 128 * 2);
  EXPECT_EQ(keys.lower, "");
}

TEST(Laws, TheSideOfTheTileIsFoundInTheClosedForm) {
  EXPECT_EQ(built_in_algorithms().find("fa1")->facts().traffic_side(Pass::fwd), TileSide::bc);
  EXPECT_EQ(built_in_algorithms().find("fa2")->facts().traffic_side(Pass::fwd), TileSide::br);
  EXPECT_EQ(built_in_algorithms().find("fa2")->facts().traffic_side(Pass::bwd), TileSide::bc);
  EXPECT_EQ(built_in_algorithms().find("fa3")->facts().traffic_side(Pass::fwd), TileSide::br);
  EXPECT_EQ(built_in_algorithms().find("naive")->facts().traffic_side(Pass::fwd), TileSide::none);
}

// A law of our own: the numbers are chosen, not those of a kernel.
Law square_law() {
  Law law;
  law.text = "N²";
  law.lower = "N";
  law.bytes = [](std::int64_t n) { return static_cast<double>(n) * static_cast<double>(n); };
  law.lower_bytes = [](std::int64_t n) { return static_cast<double>(n); };
  return law;
}

std::vector<double> values(const std::vector<std::int64_t>& lengths, double square, double linear, double noise = 0) {
  std::vector<double> y;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto n = static_cast<double>(lengths[i]);
    y.push_back((square * n * n + linear * n) * (1 + (i % 2 == 0 ? noise : -noise)));
  }
  return y;
}

const std::vector<std::int64_t> octaves{256, 512, 1024, 2048, 4096};

TEST(Fits, TheLawsOwnConstantsComeOut) {
  const FittedLaw fitted = fit_growth(square_law(), octaves, values(octaves, 3, 500));
  ASSERT_FALSE(fitted.refusal);
  EXPECT_NEAR(fitted.fit->scale, 3, 1e-9);
  EXPECT_NEAR(fitted.fit->below, 500, 1e-6);
  EXPECT_LT(fitted.fit->worst, 1e-9);
  EXPECT_NEAR(fitted.bytes(8192), 3.0 * 8192 * 8192 + 500.0 * 8192, 1);
  EXPECT_EQ(fitted.points, 5U);
  EXPECT_EQ(fitted.first, 256);
  EXPECT_NEAR(fitted.power->slope, 1.84, 0.02) << "what the points' slope is, lower order and all";
}

TEST(Fits, FourPointsOfTheLawsRangeAreNeeded) {
  Law law = square_law();
  law.from = 1000;
  const FittedLaw three = fit_growth(law, octaves, values(octaves, 3, 0));
  EXPECT_EQ(three.refusal, FitRefusal::too_few);
  EXPECT_EQ(three.points, 3U);
  EXPECT_EQ(three.first, 1024);
  EXPECT_FALSE(three.fit);
  law.from = 512;
  EXPECT_FALSE(fit_growth(law, octaves, values(octaves, 3, 0)).refusal);
}

TEST(Fits, ALawThatThePointsDoNotShowIsNotDrawn) {
  const FittedLaw linear = fit_growth(square_law(), octaves, values(octaves, 0, 500, 0.02));
  EXPECT_EQ(linear.refusal, FitRefusal::not_seen);
  EXPECT_NEAR(linear.power->slope, 1, 0.05);
}

TEST(Fits, PointsThatOutgrowTheirLawAreSaidTo) {
  std::vector<double> cubic;
  for (const std::int64_t n : octaves) cubic.push_back(std::pow(static_cast<double>(n), 2.3));
  EXPECT_EQ(fit_growth(square_law(), octaves, cubic).refusal, FitRefusal::steeper);
}

// One point of many stands 8% off: the scale is known to a few percent, and the fit would pass the point by.
TEST(Fits, AFitThatMissesAPointByMoreThanItsIntervalIsWithheld) {
  std::vector<std::int64_t> many;
  for (std::int64_t n = 1024; n <= 16384; n += 1024) many.push_back(n);
  std::vector<double> y = values(many, 3, 0);
  y[7] *= 1.08;
  const FittedLaw fitted = fit_growth(square_law(), many, y);
  EXPECT_EQ(fitted.refusal, FitRefusal::misses);
  EXPECT_EQ(fitted.worst_n, many[7]);
  EXPECT_NEAR(fitted.fit->worst, 0.07, 0.015);
  EXPECT_LT(fitted.fit->relative_half_width(), fitted.fit->worst);
}

TEST(Fits, AMissOfHalfAPercentIsNone) {
  std::vector<std::int64_t> many;
  for (std::int64_t n = 1024; n <= 16384; n += 1024) many.push_back(n);
  const FittedLaw fitted = fit_growth(square_law(), many, values(many, 3, 0, 0.005));
  EXPECT_FALSE(fitted.refusal);
  EXPECT_LT(fitted.fit->relative_half_width(), fitted.fit->worst) << "though its interval is narrower still";
}

}  // namespace
}  // namespace attnscope::analysis
