// SPDX-License-Identifier: Apache-2.0
// Curves of metrics over axes with their models, and comparisons of curve points.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "messages/ceiling.h"
#include "profiler/curves/curves.h"
#include "profiler/points/problem_filter.h"
#include "profiler/predict/modeled_values.h"
#include "profiler/roofline/roofline.h"
#include "tests/profiler/curves/curve_helpers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

PointAxis axis_with_key(std::string_view key) {
  const std::vector<PointAxis> axes = point_axes();
  return *find_axis(axes, key);
}

/// FA2 with Br x Bc x N, each with a different time.
std::vector<PointRecord> tile_length_grid() {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048}) {
    for (const int br : {64, 128}) {
      for (const int bc : {32, 64}) {
        PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n, br, bc));
        const double time = static_cast<double>(n) * (br == 64 ? 3 : 1) + bc;
        record.kernels[0].samples_ns = {0.9 * time, time, time, time, 1.2 * time};
        records.push_back(std::move(record));
      }
    }
  }
  return records;
}

CurveSet curves_over(const Points& points, const CurveRequest& request) {
  const PointTable table = points.table();
  return build_curves(table, table.rows(), request);
}

std::vector<std::pair<double, double>> values_of(const Curve& curve) {
  std::vector<std::pair<double, double>> values;
  for (const CurvePoint& point : curve.points) values.emplace_back(point.n, point.value);
  return values;
}

TEST(AxisCurves, GroupsMetricByTile) {
  const Points points(tile_length_grid());
  const CurveSet set = curves_over(points, {.axis = axis_with_key("n"),
                                            .metric = "time_median_ns",
                                            .group = tile_facet(),
                                            .algorithms = {"fa2"},
                                            .model = false});
  ASSERT_EQ(set.curves.size(), 4U);
  EXPECT_EQ(set.curves[0].name.group, "64 × 32");
  EXPECT_EQ(set.curves[3].name.group, "128 × 64");
  EXPECT_THAT(values_of(set.curves[0]), ::testing::ElementsAre(std::pair(1024.0, 3104.0), std::pair(2048.0, 6176.0)));
  EXPECT_THAT(values_of(set.curves[3]), ::testing::ElementsAre(std::pair(1024.0, 1088.0), std::pair(2048.0, 2112.0)));
  EXPECT_EQ(set.metric, "time_median_ns");
  EXPECT_EQ(set.axis->key(), "n");
}

TEST(AxisCurves, PointsHaveIntervals) {
  CurveRequest request = everything();
  request.metric = metric_key::time_median_ns;
  request.axis = axis_with_key("bc");
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 32));
  record.kernels[0].samples_ns = {90, 100, 110, 120, 190};
  const CurveSet set = curves_over(Points({record}), request);
  ASSERT_FALSE(set.curves.empty());
  EXPECT_EQ(set.curves[0].points[0].value, 110);
  EXPECT_EQ(set.curves[0].points[0].low, 100);
  EXPECT_EQ(set.curves[0].points[0].high, 120);
}

TEST(AxisCurves, OtherTileSideIsFacet) {
  const Points points(tile_length_grid());
  const PointTable table = points.table();
  const PointAxis br = axis_with_key("br");
  ProblemFilter filter(all_curve_facets(), br.facet);
  filter.restrict_to(fixed_curve_facets(br, nullptr), br.facet);
  filter.choose(filter.index_of("bc"), "32");
  filter.choose(filter.index_of("n"), "2048");
  filter.update(table, table.rows());
  const CurveSet set = build_curves(table, filter.rows(),
                                    {.axis = br, .metric = "time_median_ns", .algorithms = {"fa2"}, .model = true});
  ASSERT_EQ(set.curves.size(), 2U) << "measured, and the model beside it";
  EXPECT_THAT(values_of(set.curves[0]), ::testing::ElementsAre(std::pair(64.0, 6176.0), std::pair(128.0, 2080.0)));
  EXPECT_DOUBLE_EQ(set.curves[0].points[0].low, 6176.0) << "quartiles of the samples";
  EXPECT_EQ(set.curves[1].kind, CurveKind::model);
  ModeledValues modeled(table);
  for (std::size_t i = 0; i < 2; ++i) {
    const CurvePoint& point = set.curves[0].points[i];
    const double theory = *modeled.at(*point.row, "time_median_ns");
    EXPECT_DOUBLE_EQ(set.curves[1].points[i].value, theory);
    EXPECT_DOUBLE_EQ(*point.over_modeled, point.value / theory);
  }
}

TEST(AxisCurves, UsesWidestOrFastestTile) {
  std::vector<PointRecord> records = tile_length_grid();
  std::erase_if(records, [](const PointRecord& record) {
    return record.spec.problem.n_k == 2048 && record.spec.tile != TileShape{64, 32};
  });
  const Points points(records);
  CurveRequest request{.axis = axis_with_key("n"), .metric = "time_median_ns", .algorithms = {"fa2"}, .model = false};
  EXPECT_THAT(values_of(curves_over(points, request).curves.at(0)),
              ::testing::ElementsAre(std::pair(1024.0, 3104.0), std::pair(2048.0, 6176.0)))
      << "the tile that covers both lengths";
  request.tile.rule = TileSelection::Rule::fastest;
  EXPECT_THAT(values_of(curves_over(points, request).curves.at(0)),
              ::testing::ElementsAre(std::pair(1024.0, 1056.0), std::pair(2048.0, 6176.0)));
}

TEST(AxisCurves, GroupLabelsNameTheAxis) {
  std::vector<PointRecord> records = tile_length_grid();
  std::erase_if(records, [](const PointRecord& record) { return record.spec.problem.n_k == 2048; });
  // Both Bc fail at Br 256: one marker.
  for (const int bc : {32, 64}) {
    records.push_back(
        fixtures::failed_point(fixtures::spec("fa2", 1024, 256, bc), Disposition::infeasible, "too much memory"));
  }
  // A point without a tile belongs to no group.
  records.push_back(fixtures::imported_point("torch-flash", records.front().spec.problem, 5000));
  const Points points(records);
  const CurveSet by_bc = curves_over(points, {.axis = axis_with_key("br"),
                                              .metric = "time_median_ns",
                                              .group = axis_with_key("bc").facet,
                                              .algorithms = {"fa2"},
                                              .model = false});
  ASSERT_EQ(by_bc.curves.size(), 2U);
  EXPECT_EQ(by_bc.curves[0].name.group, "Bc 32");
  EXPECT_EQ(by_bc.curves[1].name.group, "Bc 64");
  ASSERT_EQ(by_bc.failed.size(), 1U);
  EXPECT_EQ(by_bc.failed[0].n, 256);
  const CurveSet by_tile = curves_over(Points(records), {.axis = axis_with_key("n"),
                                                         .metric = "time_median_ns",
                                                         .group = tile_facet(),
                                                         .algorithms = {"torch-flash"},
                                                         .model = false});
  ASSERT_EQ(by_tile.curves.size(), 1U);
  EXPECT_EQ(by_tile.curves[0].name.group, "");
  EXPECT_EQ(by_tile.curves[0].name.label, "") << "one label tells nothing apart";
}

TEST(AxisCurves, TextValuesHavePositions) {
  std::vector<PointRecord> records;
  for (const Mask& mask : {Mask(Mask::none), Mask(Mask::causal)}) {
    PointSpec spec = fixtures::spec("fa2", 1024);
    spec.problem.mask = mask;
    records.push_back(fixtures::ok_point(spec));
  }
  const CurveSet set = curves_over(
      Points(records), {.axis = axis_with_key("mask"), .metric = "l2_sm_bytes", .algorithms = {"fa2"}, .model = false});
  EXPECT_THAT(set.places, ::testing::ElementsAre("full", "causal"));
  ASSERT_EQ(set.curves.size(), 1U);
  EXPECT_EQ(set.curves[0].points[0].n, 1);
  EXPECT_EQ(set.curves[0].points[1].n, 2);
}

TEST(AxisCurves, KeepsRunsSeparate) {
  Points points;
  points.add(tile_length_grid(), fixtures::run(Provenance::measured, "old", "2026-01-01T00:00:00Z"));
  points.add(tile_length_grid(), fixtures::run(Provenance::measured, "new", "2026-02-01T00:00:00Z"));
  const CurveSet set = curves_over(
      points, {.axis = axis_with_key("n"), .metric = "time_median_ns", .algorithms = {"fa2"}, .model = false});
  ASSERT_EQ(set.curves.size(), 2U);
  EXPECT_EQ(set.curves[0].name.runs, "new");
  EXPECT_EQ(set.curves[0].name.age, 0);
  EXPECT_EQ(set.curves[1].name.runs, "old");
  EXPECT_EQ(set.curves[1].name.age, 1);
  for (const CurvePoint& point : set.curves[0].points) EXPECT_EQ(point.repeats, 1);
}

TEST(AxisCurves, SinglePointDoesNotLead) {
  std::vector<PointRecord> one = tile_length_grid();
  std::erase_if(one, [](const PointRecord& record) { return record.spec.problem.n_k == 2048; });
  Points points;
  points.add(tile_length_grid(), fixtures::run(Provenance::measured, "old", "2026-01-01T00:00:00Z"));
  points.add(one, fixtures::run(Provenance::measured, "new", "2026-02-01T00:00:00Z"));
  const CurveSet set = curves_over(
      points, {.axis = axis_with_key("n"), .metric = "time_median_ns", .algorithms = {"fa2"}, .model = false});
  ASSERT_FALSE(set.curves.empty());
  EXPECT_EQ(set.curves[0].name.runs, "old");
}

TEST(Peaks, DatasheetPeakNamesNoInstruction) {
  const CeilingKind& wgmma = *find_ceiling("wgmma_bf16");
  EXPECT_EQ(text(ceiling_label(wgmma, CeilingSource::datasheet)), text(msg::ceiling::tensor_peak{.dtype = "bf16"}));
  EXPECT_EQ(text(ceiling_label(wgmma, CeilingSource::measured)), text(msg::ceiling::wgmma_bf16{}));
  EXPECT_EQ(text(ceiling_label(*find_ceiling("dram_read"), CeilingSource::datasheet)), text(msg::ceiling::dram_read{}));
}

/// Naive at 300 us and FA2 at `fa2_us`; samples scatter by 0.1%.
fixtures::Points two_times(double fa2_us) {
  std::vector<PointRecord> records;
  for (const auto& [name, us] : {std::pair("naive", 300.0), std::pair("fa2", fa2_us)}) {
    PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec(name, 1024)));
    record.kernels.resize(1);
    record.kernels.front().samples_ns.clear();
    for (int i = 0; i < 12; ++i) record.kernels.front().samples_ns.push_back(us * 1e3 * (1 + 0.001 * std::sin(i)));
  }
  return fixtures::Points(records);
}

TEST(CurveRatios, DifferenceFollowsVerdict) {
  CurveRequest request = everything();
  for (const Ordinate ordinate : {Ordinate::time, Ordinate::rate}) {
    request.ordinate = ordinate;
    for (const auto& [fa2_us, differs] : {std::pair(100.0, true), std::pair(300.1, false)}) {
      const Drawn drawn(two_times(fa2_us), request);
      const auto last = [&](std::string_view algorithm) -> const Curve& {
        return *std::ranges::find_if(drawn.set.curves, [&](const Curve& curve) {
          return curve.kind == CurveKind::measured && curve.name.algorithm == algorithm;
        });
      };
      const Curve& naive = last("naive");
      const Curve& fa2 = last("fa2");
      EXPECT_EQ(differs_significantly(drawn.table, naive.points.back(), fa2.points.back(), naive.quantity), differs);
      EXPECT_FALSE(differs_significantly(drawn.table, fa2.points.back(), naive.points.back(), naive.quantity))
          << "the slower one is not the better one";
    }
  }
}

}  // namespace
}  // namespace attnscope::analysis
