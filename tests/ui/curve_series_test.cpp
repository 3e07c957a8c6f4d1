// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/curve_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "kernels/algorithm.h"
#include "kernels/io_model.h"
#include "profiler/metrics.h"
#include "tests/ui/fixtures.h"

namespace attnscope::ui {
namespace {

ProblemFilter io_filter(const std::vector<ShownPoint>& points) {
  ProblemFilter filter({facets::head_dim(), facets::mask(), facets::dtype(), facets::heads(), facets::cache()},
                       [](const PointSpec& spec) { return QString::number(spec.problem.n_k); });
  filter.update(points);
  return filter;
}

CurveRequest everything() {
  CurveRequest request;
  request.algorithms = {"naive", "fa1", "fa2"};
  request.paper_count = true;
  return request;
}

const Curve* find(const CurveSet& set, const std::string& algorithm, CurveKind kind, Quantity quantity) {
  const auto found = std::find_if(set.curves.begin(), set.curves.end(), [&](const Curve& curve) {
    return curve.algorithm == algorithm && curve.kind == kind && curve.quantity == quantity;
  });
  return found == set.curves.end() ? nullptr : &*found;
}

const CurvePoint* at(const Curve* curve, double n) {
  if (curve == nullptr) return nullptr;
  const auto found =
      std::find_if(curve->points.begin(), curve->points.end(), [&](const CurvePoint& point) { return point.n == n; });
  return found == curve->points.end() ? nullptr : &*found;
}

TEST(CurveSeries, MeasuredPointsAreTheStoredBytes) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const Curve* dram = find(set, "fa1", CurveKind::measured, Quantity::dram);
  ASSERT_NE(dram, nullptr);
  EXPECT_EQ(dram->provenance, Provenance::measured);
  EXPECT_EQ(dram->label, QStringLiteral("FA1 · DRAM · measured"));
  const CurvePoint* point = at(dram, 4096);
  ASSERT_NE(point, nullptr);
  const KernelRecord* all = point->source->record.kernel("all");
  EXPECT_DOUBLE_EQ(point->value,
                   *all->metric(metric_key::dram_read_bytes) + *all->metric(metric_key::dram_write_bytes));
  EXPECT_EQ(dram->points.size(), 7U);
}

TEST(CurveSeries, TheModelIsTheClosedFormOfTheTileShown) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const CurvePoint* model = at(find(set, "fa2", CurveKind::model, Quantity::sm_l2), 8192);
  const CurvePoint* measured = at(find(set, "fa2", CurveKind::measured, Quantity::sm_l2), 8192);
  ASSERT_NE(model, nullptr);
  ASSERT_NE(measured, nullptr);
  const PointSpec& spec = measured->source->record.spec;
  EXPECT_DOUBLE_EQ(model->value,
                   static_cast<double>(find_algorithm("fa2")->plan(spec.problem, spec.tile).traffic().total()));
  EXPECT_NEAR(measured->value / model->value, 1.001, 1e-9);
}

TEST(CurveSeries, CompulsoryMinimumBelongsToTheProblem) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const CurvePoint* least = at(find(set, "", CurveKind::compulsory, Quantity::sm_l2), 1024);
  ASSERT_NE(least, nullptr);
  EXPECT_DOUBLE_EQ(least->value, 4.0 * 1024 * 128 * 2 * 132);
}

TEST(CurveSeries, PaperCountsAreTheLiteralOnes) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const CurvePoint* standard = at(find(set, "naive", CurveKind::paper_count, Quantity::sm_l2), 2048);
  ASSERT_NE(standard, nullptr);
  EXPECT_DOUBLE_EQ(standard->value, (4.0 * 2048 * 2048 + 4.0 * 2048 * 128) * 2 * 132);
  const CurvePoint* flash = at(find(set, "fa1", CurveKind::paper_count, Quantity::sm_l2), 2048);
  ASSERT_NE(flash, nullptr);
  const auto fa1 = std::find_if(points.begin(), points.end(),
                                [](const ShownPoint& point) { return point.spec().algorithm == "fa1"; });
  AttentionProblem problem = fa1->spec().problem;
  problem.n_q = problem.n_k = 2048;
  EXPECT_DOUBLE_EQ(flash->value, static_cast<double>(flash_paper_bytes(problem, fa1->spec().tile.bc)));
  EXPECT_EQ(find(set, "fa2", CurveKind::paper_count, Quantity::sm_l2), nullptr) << "the paper counts FA1";
}

TEST(CurveSeries, AFailedPointIsAMarkAndNotAValue) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  ASSERT_EQ(set.failed.size(), 1U);
  EXPECT_EQ(set.failed[0].algorithm, "naive");
  EXPECT_EQ(set.failed[0].n, 16384);
  EXPECT_EQ(set.failed[0].disposition, Disposition::out_of_memory);
  EXPECT_THAT(set.failed[0].reason.toStdString(), testing::HasSubstr("132 GiB"));
  EXPECT_EQ(at(find(set, "naive", CurveKind::measured, Quantity::dram), 16384), nullptr);
}

TEST(CurveSeries, RepeatedMeasurementsGiveMedianAndSpread) {
  std::vector<PointRecord> records;
  for (const double factor : {1.0, 1.2, 1.1}) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
    for (MetricValue& metric : record.kernels[0].metrics) {
      if (metric.name == metric_key::dram_read_bytes) metric.value = 1e6 * factor;
      if (metric.name == metric_key::dram_write_bytes) metric.value = 0;
    }
    records.push_back(record);
  }
  const auto points = fixtures::shown(records);
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const CurvePoint* point = at(find(set, "fa2", CurveKind::measured, Quantity::dram), 1024);
  ASSERT_NE(point, nullptr);
  EXPECT_EQ(point->repeats, 3);
  EXPECT_DOUBLE_EQ(point->value, 1.1e6);
  EXPECT_DOUBLE_EQ(point->low, 1e6);
  EXPECT_DOUBLE_EQ(point->high, 1.2e6);
}

TEST(CurveSeries, SimulatedAndMeasuredNeverShareACurve) {
  auto points = fixtures::shown(fixtures::memory_wall(false), false, 1);
  const auto simulated = fixtures::shown(fixtures::memory_wall(true), true, 2);
  points.insert(points.end(), simulated.begin(), simulated.end());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  int measured_curves = 0;
  int simulated_curves = 0;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured) continue;
    (curve.provenance == Provenance::simulated ? simulated_curves : measured_curves)++;
    for (const CurvePoint& point : curve.points) {
      EXPECT_EQ(point.source->record.provenance, curve.provenance);
      EXPECT_EQ(point.repeats, 1);
    }
    EXPECT_TRUE(curve.label.endsWith(curve.provenance == Provenance::simulated ? "simulated" : "measured"));
  }
  EXPECT_EQ(measured_curves, 6);
  EXPECT_EQ(simulated_curves, 6);
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::asymptote) continue;
    EXPECT_EQ(curve.provenance, Provenance::derived);
    EXPECT_FALSE(curve.label.contains("simulated")) << curve.label.toStdString();
  }
  for (const KernelStack& stack : set.stacks) EXPECT_EQ(stack.provenance, Provenance::measured);
}

TEST(CurveSeries, TheFitFindsQuadraticGrowth) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  int fits = 0;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::asymptote) continue;
    ++fits;
    const bool naive = curve.algorithm == "naive";
    const std::string label = curve.label.toStdString();
    const auto slope = QRegularExpression(QStringLiteral("slope ([0-9.]+)")).match(curve.label);
    ASSERT_TRUE(slope.hasMatch()) << label;
    EXPECT_NEAR(slope.captured(1).toDouble(), 1.95, 0.1) << label;
    EXPECT_TRUE(curve.label.contains(naive ? QStringLiteral("·N²\n") : QStringLiteral("·N²d²/M\n"))) << label;
    // M is 116,224 elements on an H200: N d reaches it at N = 1024 for d 128. S written out grows as N² from the start.
    EXPECT_EQ(curve.points.front().n, naive ? 256 : 1024) << label;
    EXPECT_EQ(curve.label.endsWith(QStringLiteral("N ≥ 1k")), !naive) << label;
    // The law itself: four times the bytes for twice the N.
    EXPECT_NEAR(at(&curve, 8192)->value / at(&curve, 4096)->value, 4, 1e-9) << label;
  }
  EXPECT_EQ(fits, 3);
}

TEST(CurveSeries, AFitOfSimulatedPointsIsSimulated) {
  const auto points = fixtures::shown(fixtures::memory_wall(true), true);
  int fits = 0;
  for (const Curve& curve : build_curves(points, io_filter(points), everything()).curves) {
    if (curve.kind != CurveKind::asymptote) continue;
    ++fits;
    EXPECT_EQ(curve.provenance, Provenance::simulated);
    EXPECT_TRUE(curve.label.contains(QStringLiteral("simulated, fit"))) << curve.label.toStdString();
  }
  EXPECT_EQ(fits, 3);
}

TEST(CurveSeries, KernelsOfOnePointAddUp) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  ASSERT_FALSE(set.stacks.empty());
  for (const KernelStack& stack : set.stacks) {
    EXPECT_EQ(stack.algorithm, "naive");
    ASSERT_EQ(stack.kernels.size(), 3U);
    double sum = 0;
    for (const KernelShare& share : stack.kernels) sum += share.sm_l2_bytes;
    const CurvePoint* total = at(find(set, "naive", CurveKind::measured, Quantity::sm_l2), stack.n);
    ASSERT_NE(total, nullptr);
    EXPECT_NEAR(sum / total->value, 1, 1e-9);
  }
}

TEST(CurveSeries, PerHeadDividesEverything) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  CurveRequest request = everything();
  const CurveSet all = build_curves(points, io_filter(points), request);
  request.per_head = true;
  const CurveSet one = build_curves(points, io_filter(points), request);
  ASSERT_EQ(all.curves.size(), one.curves.size());
  for (std::size_t c = 0; c < all.curves.size(); ++c) {
    for (std::size_t i = 0; i < all.curves[c].points.size(); ++i) {
      EXPECT_NEAR(all.curves[c].points[i].value / one.curves[c].points[i].value, 132, 1e-6) << c;
    }
  }
}

TEST(CurveSeries, TheWorkingSetLeavesTheL2WhereItsBytesSaySo) {
  const auto points = fixtures::shown(fixtures::memory_wall());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  ASSERT_EQ(set.boundaries.size(), 2U) << "FA2 cycles through nothing";
  for (const L2Boundary& boundary : set.boundaries) {
    EXPECT_EQ(boundary.l2_bytes, 62914560);
    EXPECT_NE(boundary.algorithm, "fa2");
    EXPECT_EQ(boundary.device, QString()) << "one device is no news";
    // FA1: 132 heads at once, each 2d + 4d + 8 bytes a row. Naive: the 16-bit scores of all heads.
    const double expected =
        boundary.algorithm == "fa1" ? 62914560.0 / (132 * (6 * 128 + 8)) : std::sqrt(62914560.0 / (132 * 2));
    EXPECT_NEAR(boundary.n / expected, 1, 0.02) << boundary.algorithm;
  }
}

TEST(CurveSeries, EveryDeviceHasItsOwnL2Boundary) {
  auto points = fixtures::shown(fixtures::memory_wall(), false, 1);
  auto info = std::make_shared<RunInfo>(*points.front().run);
  info->summary.id = 2;
  info->summary.device_name = "NVIDIA A100-SXM4-80GB";
  info->summary.device_uuid = "GPU-a100";
  info->summary.limits = *find_gpu("A100");
  std::vector<PointRecord> records;
  for (const PointRecord& record : fixtures::memory_wall()) {
    if (record.spec.algorithm == "naive") records.push_back(record);  // the same tile on both
  }
  for (ShownPoint point : fixtures::shown(records, false, 2)) points.push_back({info, point.point});
  // The same device once more, simulated: its line is there already.
  for (const ShownPoint& point : fixtures::shown(fixtures::memory_wall(true), true, 3)) points.push_back(point);
  std::map<QString, double> naive;
  for (const L2Boundary& boundary : build_curves(points, io_filter(points), everything()).boundaries) {
    if (boundary.algorithm != "naive") continue;
    EXPECT_TRUE(naive.emplace(boundary.device, boundary.n).second) << boundary.device.toStdString();
  }
  ASSERT_EQ(naive.size(), 2U);
  EXPECT_NEAR(naive.at(QStringLiteral("H200")), std::sqrt(62914560.0 / (132 * 2)), 10);
  EXPECT_NEAR(naive.at(QStringLiteral("A100-SXM4-80GB")),
              std::sqrt(static_cast<double>(find_gpu("A100")->l2_bytes) / (132 * 2)), 10);
}

TEST(CurveSeries, OneTileStandsForAnAlgorithm) {
  auto records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::tile_sweep()) records.push_back(record);
  const auto points = fixtures::shown(records);
  const ProblemFilter filter = io_filter(points);
  CurveRequest request = everything();
  const CurveSet widest = build_curves(points, filter, request);
  const CurvePoint* swept = at(find(widest, "fa2", CurveKind::measured, Quantity::sm_l2), 4096);
  const CurvePoint* neighbour = at(find(widest, "fa2", CurveKind::measured, Quantity::sm_l2), 2048);
  ASSERT_NE(swept, nullptr);
  EXPECT_EQ(swept->source->record.spec.tile, neighbour->source->record.spec.tile);

  request.tile = {TileChoice::Rule::exact, TileShape{64, 32, Raster::q_fastest}};
  const CurveSet exact = build_curves(points, filter, request);
  const Curve* only = find(exact, "fa2", CurveKind::measured, Quantity::sm_l2);
  ASSERT_NE(only, nullptr);
  ASSERT_EQ(only->points.size(), 1U);
  EXPECT_EQ(only->points[0].source->record.spec.tile, (TileShape{64, 32, Raster::q_fastest}));

  request.tile.rule = TileChoice::Rule::fastest;
  const CurveSet fastest = build_curves(points, filter, request);
  const CurvePoint* quick = at(find(fastest, "fa2", CurveKind::measured, Quantity::sm_l2), 4096);
  ASSERT_NE(quick, nullptr);
  const double best = evaluate(metric_key::time_median_ns, quick->source->record)->value;
  for (const ShownPoint& point : points) {
    if (point.spec().algorithm != "fa2" || point.spec().problem.n_k != 4096) continue;
    const auto time = evaluate(metric_key::time_median_ns, point.record());
    if (time) {
      EXPECT_GE(time->value, best);
    }
  }
}

TEST(CurveSeries, TwoModelsOfOneAlgorithmNameTheirTiles) {
  auto points = fixtures::shown({fixtures::ok_point(fixtures::spec("fa2", 1024, 128, 64))}, false, 1);
  const auto other = fixtures::shown({fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64), true)}, true, 2);
  points.insert(points.end(), other.begin(), other.end());
  QStringList labels;
  for (const Curve& curve : build_curves(points, io_filter(points), everything()).curves) {
    if (curve.kind == CurveKind::model) labels << curve.label;
  }
  ASSERT_EQ(labels.size(), 2);
  EXPECT_TRUE(labels[0].endsWith(QStringLiteral("128 × 64")));
  EXPECT_TRUE(labels[1].endsWith(QStringLiteral("64 × 64")));
}

TEST(CurveSeries, NothingInNothingOut) {
  const CurveSet set = build_curves({}, io_filter({}), everything());
  EXPECT_TRUE(set.empty());
}

TEST(ProblemFilter, OffersOnlyWhatEarlierChoicesLeave) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024})
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, 64)));
  PointRecord causal = fixtures::ok_point(fixtures::spec("fa2", 256));
  causal.spec.problem.mask = Mask::causal;
  records.push_back(causal);
  const auto points = fixtures::shown(records);
  ProblemFilter filter = io_filter(points);
  // d 64 covers three N, d 128 one: the wider is taken, and under it only the full mask exists.
  EXPECT_EQ(filter.state(0).options[static_cast<std::size_t>(filter.state(0).current)].text, "64");
  ASSERT_EQ(filter.state(1).options.size(), 1U);
  EXPECT_EQ(filter.state(1).options[0].text, "none");
  filter.choose(0, QStringLiteral("128"));
  filter.update(points);
  ASSERT_EQ(filter.state(0).options.size(), 2U);
  EXPECT_EQ(filter.state(1).options[0].text, "causal");
  EXPECT_TRUE(filter.matches(points[3]));
  EXPECT_FALSE(filter.matches(points[0]));
}

}  // namespace
}  // namespace attnscope::ui
