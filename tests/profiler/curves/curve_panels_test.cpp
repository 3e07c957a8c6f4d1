// SPDX-License-Identifier: Apache-2.0
// Panels by GPU and run, dashes, merged panels, ratios and slopes.
#include "profiler/curves/curve_panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "messages/curves.h"
#include "tests/profiler/curves/curve_helpers.h"

namespace attnscope::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A series with value(n) = factor * n^2 at N 1024, 2048 and 4096.
Curve series(std::string algorithm, std::string device, double factor, int age = 0, RunIndex run = 0) {
  Curve curve;
  curve.name = {.algorithm = std::move(algorithm),
                .device = std::move(device),
                .runs = age > 0 || run > 0 ? "run " + std::to_string(run) : std::string(),
                .age = age};
  curve.run = run;
  curve.quantity = Quantity::time;
  Row row = 0;
  for (const double n : {1024.0, 2048.0, 4096.0}) {
    curve.points.push_back({.n = n, .value = factor * n * n, .low = 0, .high = 0, .row = row++});
  }
  return curve;
}

CurveSet arranged(std::vector<Curve> curves) {
  CurveSet set;
  set.curves = std::move(curves);
  arrange_curves(set);
  return set;
}

TEST(CurvePanels, OneGpuIsOnePanel) {
  const CurveSet set = arranged({series("fa1", "", 1), series("fa2", "", 2)});
  EXPECT_THAT(set.panels, ElementsAre(""));
  EXPECT_EQ(set.curves[0].identity, style::identity_of("fa1"));
  EXPECT_THAT(ratio_curves(set), IsEmpty());
}

TEST(CurvePanels, GpusArePanelsInTheOrderOfTheirRuns) {
  const CurveSet set = arranged({series("fa2", "A100", 2, 0, 1), series("fa2", "H200", 1, 0, 0)});
  EXPECT_THAT(set.panels, ElementsAre("H200", "A100"));
  EXPECT_THAT(set.curves[0].panels, ElementsAre(1U));
  EXPECT_EQ(set.curves[0].identity, set.curves[1].identity);
  const std::vector<RatioCurve> ratios = ratio_curves(set);
  ASSERT_EQ(ratios.size(), 1U);
  EXPECT_EQ(ratios[0].curve, 0U);
  for (const RatioCurve::Point& point : ratios[0].points) EXPECT_DOUBLE_EQ(point.ratio, 2);
  EXPECT_EQ(ratio_title(set), "A100 / H200");
}

TEST(CurvePanels, CoincidingPanelsAreMerged) {
  const double within = 1 + 0.9 * equal_panels;
  const CurveSet set = arranged({series("fa1", "H200", 3), series("fa1", "H100", 3 * within, 0, 1),
                                 series("fa2", "H200", 1), series("fa2", "H100", 1, 0, 1)});
  EXPECT_THAT(set.panels, ElementsAre("H200 = H100"));
  EXPECT_FALSE(set.curves[0].merged);
  EXPECT_TRUE(set.curves[1].merged);
  EXPECT_THAT(set.curves[1].panels, ElementsAre(0U));
  EXPECT_THAT(ratio_curves(set), IsEmpty());
  const double beyond = 1 + 1.1 * equal_panels;
  EXPECT_EQ(arranged({series("fa1", "H200", 3), series("fa1", "H100", 3 * beyond, 0, 1)}).panels.size(), 2U);
  Curve shorter = series("fa1", "H100", 3, 0, 1);
  shorter.points.pop_back();
  EXPECT_EQ(arranged({series("fa1", "H200", 3), shorter}).panels.size(), 2U) << "N differ";
}

TEST(CurvePanels, TheOlderOfTwoRunsIsDashed) {
  const CurveSet set = arranged({series("fa2", "", 1, 0, 1), series("fa2", "", 1.1, 1, 0)});
  EXPECT_THAT(set.panels, ElementsAre(""));
  EXPECT_FALSE(set.curves[0].dashed);
  EXPECT_TRUE(set.curves[1].dashed);
  EXPECT_NE(series_key(set.curves[0]), series_key(set.curves[1]));
  const std::vector<RatioCurve> ratios = ratio_curves(set);
  ASSERT_EQ(ratios.size(), 1U);
  EXPECT_DOUBLE_EQ(ratios[0].points[0].ratio, 1.1);
  EXPECT_EQ(ratio_title(set), text(msg::curves::ratio_of_runs{}));
}

TEST(CurvePanels, MoreThanTwoRunsArePanels) {
  std::vector<Curve> curves;
  for (int age = 0; age < 3; ++age) {
    curves.push_back(series("fa2", "", 1, age, static_cast<RunIndex>(2 - age)));
    curves.back().points[0].value *= 1 + 0.1 * age;
  }
  curves.front().name.runs = "run 2";
  curves.back().name.runs = "run 0";
  curves.push_back(series("fa1", "", 5));
  const CurveSet set = arranged(curves);
  EXPECT_THAT(set.panels, ElementsAre("run 0", "run 1", "run 2"));
  for (const Curve& curve : set.curves) EXPECT_FALSE(curve.dashed);
  EXPECT_THAT(set.curves[3].panels, ElementsAre(0U)) << "the panel of its run";
}

TEST(CurvePanels, SimulationAndMeasurementShareAPanel) {
  Curve simulated = series("fa2", "", 1);
  simulated.provenance = Provenance::simulated;
  const CurveSet set = arranged({series("fa2", "", 1), simulated});
  EXPECT_THAT(set.panels, ElementsAre(""));
  EXPECT_FALSE(set.curves[1].dashed) << "differs in fill";
  EXPECT_NE(series_key(set.curves[0]), series_key(set.curves[1]));
}

TEST(CurvePanels, GroupsHaveTheirOwnIdentities) {
  std::vector<Curve> curves{series("fa2", "", 1), series("fa2", "", 2)};
  curves[0].name.group = "64 x 64";
  curves[1].name.group = "128 x 64";
  const CurveSet set = arranged(curves);
  EXPECT_EQ(set.curves[0].identity, style::category_identity(0));
  EXPECT_EQ(set.curves[1].identity, style::category_identity(1));
  curves.push_back(series("fa1", "", 3));
  curves.back().name.group = "64 x 64";
  const CurveSet both = arranged(curves);
  EXPECT_THAT(both.panels, ElementsAre("FA2", "FA1"));
  EXPECT_EQ(both.curves[2].identity, both.curves[0].identity) << "of the group";
}

TEST(CurvePanels, ModelsAreDrawnWhereTheirAlgorithmIs) {
  Curve model = series("fa1", "", 1);
  model.kind = CurveKind::model;
  Curve minimum = series("", "", 0.5);
  minimum.kind = CurveKind::compulsory;
  const CurveSet set =
      arranged({series("fa1", "H200", 1), series("fa2", "H200", 1), series("fa2", "H100", 2, 0, 1), model, minimum});
  EXPECT_THAT(set.curves[3].panels, ElementsAre(0U)) << "FA1 has no curve on the H100";
  EXPECT_THAT(set.curves[4].panels, ElementsAre(0U, 1U));
  EXPECT_EQ(series_key(set.curves[4]), "");
}

TEST(CurvePanels, DropsPanelsBeyondTheMaximum) {
  std::vector<Curve> curves;
  for (int gpu = 0; gpu < 8; ++gpu) {
    curves.push_back(series("fa2", "GPU " + std::to_string(gpu), 1 + gpu, 0, static_cast<RunIndex>(gpu)));
  }
  const CurveSet set = arranged(curves);
  EXPECT_EQ(set.panels.size(), max_panels);
  EXPECT_EQ(set.curves.size(), max_panels);
  EXPECT_EQ(set.undrawn_panels, 2U);
}

TEST(CurvePanels, FailuresPreventAMergeIfTheyDiffer) {
  CurveSet set;
  set.curves = {series("fa1", "H200", 3), series("fa1", "H100", 3, 0, 1)};
  set.failed = {{"naive", "H200", 4096, 0}};
  arrange_curves(set);
  EXPECT_EQ(set.panels.size(), 2U);
  EXPECT_THAT(set.failed[0].panels, ElementsAre(0U));
  set.failed.push_back({"naive", "H100", 4096, 1});
  arrange_curves(set);
  EXPECT_EQ(set.panels.size(), 1U);
}

TEST(CurvePanels, SlopeIsTheLocalExponent) {
  const Curve curve = series("fa2", "", 3);
  EXPECT_FALSE(slope_at(curve, 1024)) << "no preceding point";
  EXPECT_NEAR(*slope_at(curve, 2048), 2, 1e-12);
  EXPECT_FALSE(slope_at(curve, 3000));
  EXPECT_EQ(point_at(curve, 2048)->value, 3 * 2048.0 * 2048.0);
  EXPECT_EQ(point_at(curve, 3000), nullptr);
}

}  // namespace
}  // namespace attnscope::analysis
