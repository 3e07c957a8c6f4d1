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
#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/format.h"

namespace attnscope::ui {
namespace {

ProblemFilter io_filter(const std::vector<ShownPoint>& points) {
  ProblemFilter filter({facets::head_dim(), facets::mask(), facets::pass(), facets::queries(), facets::dtype(),
                        facets::heads(), facets::dropout(), facets::cache()},
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
                   static_cast<double>(
                       find_algorithm("fa2")->plan(spec.problem, spec.tile, known_gpus().front()).traffic().total()));
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

TEST(CurveSeries, LengthsGivenOneByOneAreDrawnAtTheirPointsAlone) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 4096}) {
    PointSpec spec = fixtures::spec("fa2", n);
    spec.problem.batch = 2;
    spec.problem.mask = *parse_mask("lengths:1000/700");
    records.push_back(fixtures::ok_point(spec));
  }
  const auto points = fixtures::shown(records);
  const CurveSet set = build_curves(points, io_filter(points), everything());
  int theory = 0;
  for (const Curve& curve : set.curves) {
    if (curve.kind == CurveKind::measured) continue;
    ++theory;
    EXPECT_LE(curve.points.size(), 2U) << curve.label.toStdString();
  }
  EXPECT_GT(theory, 1);
}

TEST(CurveSeries, TheModelIsOfWhatTheDeviceRuns) {
  std::vector<ShownPoint> points;
  std::int64_t id = 0;
  for (const char* gpu : {"H200", "A100"}) {
    auto run = std::make_shared<RunInfo>(*fixtures::shown({fixtures::ok_point(fixtures::spec("fa2", 1024))})[0].run);
    run->summary.id = ++id;
    run->summary.device_name = gpu;
    run->summary.device_uuid = gpu;
    run->summary.limits = *find_gpu(gpu);
    for (const std::int64_t n : {1000, 2000}) {
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, 64));
      record.spec.problem.pass = Pass::bwd;
      points.push_back({run, std::make_shared<StoredPoint>(StoredPoint{n + id, id, 0, record})});
    }
  }
  const Algorithm& fa2 = *find_algorithm("fa2");
  const CurveSet set = build_curves(points, io_filter(points), everything());
  std::set<double> expected;
  std::set<double> drawn;
  for (const ShownPoint& point : points) {
    const PointSpec& spec = point.spec();
    const DeviceLimits& limits = point.run->summary.limits;
    ASSERT_FALSE(fa2.refusal(spec.problem, spec.tile, limits)) << limits.name;
    expected.insert(static_cast<double>(fa2.plan(spec.problem, spec.tile, limits).traffic().total()));
  }
  std::size_t models = 0;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::model) continue;
    ++models;
    for (const CurvePoint& point : curve.points) drawn.insert(point.value);
  }
  EXPECT_EQ(drawn, expected);
  EXPECT_EQ(models, expected.size() / 2) << "one curve where the devices move the same bytes";
}

TEST(CurveSeries, AlgorithmsAreShownAsTheirTitlesWriteThem) {
  EXPECT_EQ(short_title("fa2"), QStringLiteral("FA2"));
  EXPECT_EQ(short_title("naive"), QStringLiteral("Naive"));
  EXPECT_EQ(short_title("splitkv"), QStringLiteral("Split-KV"));
  EXPECT_EQ(short_title("torch-flash"), QStringLiteral("torch-flash"));
}

TEST(CurveSeries, EachEndWithoutAValueHasItsWords) {
  for (const auto& [disposition, words] : {std::pair{Disposition::infeasible, "could not run: infeasible"},
                                           std::pair{Disposition::out_of_memory, "could not run: out-of-memory"},
                                           std::pair{Disposition::incorrect, "ran, result incorrect"},
                                           std::pair{Disposition::compile_error, "could not run: compile-error"},
                                           std::pair{Disposition::timeout, "did not end: timeout"},
                                           std::pair{Disposition::crashed, "did not end: crashed"},
                                           std::pair{Disposition::no_counters, "ran, no-counters"},
                                           std::pair{Disposition::cancelled, "did not end: cancelled"}}) {
    EXPECT_EQ(failure_words(disposition), words);
  }
}

TEST(CurveSeries, EveryQuantityIsALineOfTheMetricsTable) {
  for (const auto& [quantity, follows_clocks] : {std::pair{Quantity::dram, false}, std::pair{Quantity::sm_l2, false},
                                                 std::pair{Quantity::time, true}, std::pair{Quantity::rate, true}}) {
    const Metric* metric = find_metric(metric_of(quantity));
    ASSERT_NE(metric, nullptr) << to_string(quantity).toStdString();
    EXPECT_EQ(metric->follows_clocks, follows_clocks) << metric->key;
  }
}

TEST(CurveSeries, MasksThatAreShortenedAlikeStayTwo) {
  std::vector<PointRecord> records;
  for (const char* mask : {"lengths:100/200/300/400/500", "lengths:100/200/400/300/500"}) {
    PointSpec spec = fixtures::spec("fa2", 512);
    spec.problem.batch = 5;
    spec.problem.mask = *parse_mask(mask);
    records.push_back(fixtures::ok_point(spec));
  }
  const auto points = fixtures::shown(records);
  ProblemFilter filter = io_filter(points);
  const std::size_t place = filter.place_of(QStringLiteral("Mask"));
  ASSERT_EQ(filter.state(place).options.size(), 2U);
  EXPECT_EQ(filter.state(place).options[0].text, filter.state(place).options[1].text);
  QSet<QString> stems;
  for (const ShownPoint& point : points) {
    filter.choose(place, to_qstring(to_string(point.spec().problem.mask)));
    filter.update(points);
    EXPECT_TRUE(filter.matches(point));
    EXPECT_EQ(std::ranges::count_if(points, [&](const ShownPoint& other) { return filter.matches(other); }), 1);
    stems.insert(filter.stem());
  }
  EXPECT_EQ(stems.size(), 2);
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

  request.tile = {TileSelection::Rule::exact, TileShape{64, 32, Raster::q_fastest}};
  const CurveSet exact = build_curves(points, filter, request);
  const Curve* only = find(exact, "fa2", CurveKind::measured, Quantity::sm_l2);
  ASSERT_NE(only, nullptr);
  ASSERT_EQ(only->points.size(), 1U);
  EXPECT_EQ(only->points[0].source->record.spec.tile, (TileShape{64, 32, Raster::q_fastest}));

  request.tile.rule = TileSelection::Rule::fastest;
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

std::vector<ShownPoint> with_peers() {
  auto points = fixtures::shown(fixtures::memory_wall(), false, 1);
  for (const ShownPoint& point : fixtures::shown(fixtures::peers(), false, 2)) points.push_back(point);
  return points;
}

CurveRequest with_peers_of(Ordinate ordinate) {
  CurveRequest request = everything();
  request.algorithms.insert({"torch-flash", "torch-cudnn"});
  request.ordinate = ordinate;
  return request;
}

TEST(CurveSeries, AnImportedProblemDoesNotLead) {
  // Twice as many lengths as ours, at another number of heads.
  std::vector<PointRecord> peers;
  for (std::int64_t n = 128; n <= (1 << 20); n *= 2) {
    peers.push_back(
        fixtures::imported_point("torch-flash", {.heads_q = 3, .heads_kv = 3, .n_q = n, .n_k = n, .d = 80}, 1e6));
  }
  auto points = fixtures::shown(peers, false, 1);
  for (const ShownPoint& point : fixtures::shown(fixtures::memory_wall(), false, 2)) points.push_back(point);
  EXPECT_FALSE(build_curves(points, io_filter(points), everything()).curves.empty());
  const ProblemFilter filter = io_filter(points);
  EXPECT_FALSE(filter.matches(points.front()));
  EXPECT_TRUE(std::any_of(points.begin() + std::ssize(peers), points.end(),
                          [&](const ShownPoint& point) { return filter.matches(point); }));
}

TEST(CurveSeries, ImportedTimesStandBesideMeasuredOnes) {
  const auto points = with_peers();
  const CurveSet set = build_curves(points, io_filter(points), with_peers_of(Ordinate::time));
  QStringList labels;
  for (const Curve& curve : set.curves) {
    EXPECT_EQ(curve.kind, CurveKind::measured) << "theory speaks of bytes";
    EXPECT_EQ(curve.quantity, Quantity::time);
    labels << curve.label;
  }
  EXPECT_EQ(labels,
            (QStringList{QStringLiteral("Naive · time · measured"), QStringLiteral("FA1 · time · measured"),
                         QStringLiteral("FA2 · time · measured"), QStringLiteral("torch-cudnn · time · imported"),
                         QStringLiteral("torch-flash · time · imported")}));
  const Curve* flash = find(set, "torch-flash", CurveKind::measured, Quantity::time);
  ASSERT_NE(flash, nullptr);
  EXPECT_EQ(flash->provenance, Provenance::imported);
  EXPECT_EQ(flash->points.size(), 7U);
  const CurvePoint* point = at(flash, 4096);
  ASSERT_NE(point, nullptr);
  const double median = *point->source->record.kernel("all")->metric(metric_key::time_median_ns);
  EXPECT_DOUBLE_EQ(point->value, median);
  EXPECT_DOUBLE_EQ(point->low, 0.98 * median);
  EXPECT_DOUBLE_EQ(point->high, 1.05 * median);
  // Ours come from samples.
  const CurvePoint* ours = at(find(set, "fa2", CurveKind::measured, Quantity::time), 4096);
  ASSERT_NE(ours, nullptr);
  const auto summary = summarize(ours->source->record.kernel("all")->samples_ns);
  EXPECT_DOUBLE_EQ(ours->value, summary->median);
  EXPECT_DOUBLE_EQ(ours->low, summary->q1);
  EXPECT_DOUBLE_EQ(ours->high, summary->q3);
}

TEST(CurveSeries, RatesAreDerivedAndTheirBarsTurnAround) {
  const auto points = with_peers();
  const CurveSet set = build_curves(points, io_filter(points), with_peers_of(Ordinate::rate));
  const Curve* ours = find(set, "fa2", CurveKind::measured, Quantity::rate);
  ASSERT_NE(ours, nullptr);
  EXPECT_EQ(ours->label, QStringLiteral("FA2 · TFLOP/s · derived"));
  EXPECT_EQ(ours->provenance, Provenance::derived);
  const Curve* flash = find(set, "torch-flash", CurveKind::measured, Quantity::rate);
  ASSERT_NE(flash, nullptr);
  EXPECT_EQ(flash->label, QStringLiteral("torch-flash · TFLOP/s · imported"));
  const CurvePoint* point = at(flash, 1024);
  ASSERT_NE(point, nullptr);
  const double nanoseconds = *point->source->record.kernel("all")->metric(metric_key::time_median_ns);
  const double rate = 4.0 * 1024 * 1024 * 128 * 132 / nanoseconds * 1e-3;
  EXPECT_NEAR(point->value / rate, 1, 1e-9);
  EXPECT_NEAR(point->high / rate, 1 / 0.98, 1e-9) << "the fastest quarter";
  EXPECT_NEAR(point->low / rate, 1 / 1.05, 1e-9);
}

TEST(CurveSeries, ForeignAlgorithmsHaveNoTheoryOfBytes) {
  const auto points = with_peers();
  const CurveSet set = build_curves(points, io_filter(points), with_peers_of(Ordinate::bytes));
  for (const Curve& curve : set.curves) EXPECT_FALSE(curve.label.contains("torch")) << curve.label.toStdString();
  EXPECT_NE(find(set, "fa2", CurveKind::model, Quantity::sm_l2), nullptr);

  // Even with bytes and a tile of their own.
  PointRecord counted = fixtures::ok_point(fixtures::spec("fa2", 1024));
  counted.spec.algorithm = "torch-flash";
  counted.provenance = Provenance::imported;
  const auto alone = fixtures::shown({counted});
  const CurveSet imported = build_curves(alone, io_filter(alone), with_peers_of(Ordinate::bytes));
  int drawn = 0;
  for (const Curve& curve : imported.curves) {
    if (curve.algorithm.empty()) continue;
    EXPECT_EQ(curve.kind, CurveKind::measured);
    EXPECT_EQ(curve.provenance, Provenance::imported);
    ++drawn;
  }
  EXPECT_EQ(drawn, 2);
}

TEST(CurveSeries, OurAlgorithmImportedWithoutATileIsASeriesOfItsOwn) {
  auto points = fixtures::shown(fixtures::memory_wall(), false, 1);
  const AttentionProblem problem = fixtures::spec("fa2", 1024).problem;
  for (const ShownPoint& point : fixtures::shown({fixtures::imported_point("fa2", problem, 1e6)}, false, 2)) {
    points.push_back(point);
  }
  CurveRequest request = with_peers_of(Ordinate::time);
  request.tile = {TileSelection::Rule::exact, TileShape{64, 64}};
  const CurveSet set = build_curves(points, io_filter(points), request);
  ASSERT_EQ(set.curves.size(), 1U) << "no measured point has that tile; the imported one does not say";
  EXPECT_EQ(set.curves[0].label, QStringLiteral("FA2 · time · imported"));
  EXPECT_EQ(set.curves[0].points[0].value, 1e6);
  for (const TileShape& tile : tiles_of(points, io_filter(points))) EXPECT_TRUE(tile_stated(tile));
}

TEST(CurveSeries, DecodingIsDrawnOverTheKeys) {
  const auto points = fixtures::shown(fixtures::decoding());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  EXPECT_EQ(set.queries, 1);
  const Curve* fa2 = find(set, "fa2", CurveKind::measured, Quantity::sm_l2);
  ASSERT_NE(fa2, nullptr);
  ASSERT_EQ(fa2->points.size(), 7U);
  const CurvePoint* last = at(fa2, 65536);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->source->record.spec.problem.n_q, 1);
  // K and V once, one row of Q and O.
  const CurvePoint* least = at(find(set, "", CurveKind::compulsory, Quantity::sm_l2), 65536);
  ASSERT_NE(least, nullptr);
  EXPECT_DOUBLE_EQ(least->value, 16 * (2.0 * 65536 + 2) * 128 * 2);
  const CurvePoint* model = at(find(set, "fa2", CurveKind::model, Quantity::sm_l2), 4096);
  ASSERT_NE(model, nullptr);
  const PointSpec spec = fixtures::decode_spec("fa2", 4096);
  EXPECT_DOUBLE_EQ(model->value,
                   static_cast<double>(
                       find_algorithm("fa2")->plan(spec.problem, spec.tile, known_gpus().front()).traffic().total()));
  EXPECT_EQ(find(set, "naive", CurveKind::paper_count, Quantity::sm_l2), nullptr) << "the paper counts n_q = n_k";
}

TEST(CurveSeries, DecodingFitsAMultipleOfTheCache) {
  const auto points = fixtures::shown(fixtures::decoding());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const Curve* fit = find(set, "fa2", CurveKind::asymptote, Quantity::sm_l2);
  ASSERT_NE(fit, nullptr);
  EXPECT_TRUE(fit->label.contains(QStringLiteral("fit 2.0")) &&
              fit->label.contains(QStringLiteral("·n_k·d\nslope 1.0")))
      << fit->label.toStdString();
  const double cache = 16.0 * 8192 * 128 * 2;
  EXPECT_NEAR(at(fit, 8192)->value / cache, 2, 0.05);
}

TEST(CurveSeries, SquareAndDecodingPointsNeverShareACurve) {
  auto records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::decoding()) {
    records.push_back(record);
    records.back().spec.problem.heads_q = records.back().spec.problem.heads_kv = 132;
  }
  const auto points = fixtures::shown(records);
  ProblemFilter filter = io_filter(points);
  const CurveSet square = build_curves(points, filter, everything());
  EXPECT_EQ(square.queries, std::nullopt) << "what is usual comes first";
  EXPECT_EQ(at(find(square, "fa2", CurveKind::measured, Quantity::dram), 65536), nullptr);
  filter.choose(filter.place_of(QStringLiteral("n_q")), QStringLiteral("1"));
  filter.update(points);
  const CurveSet keys = build_curves(points, filter, everything());
  EXPECT_EQ(keys.queries, 1);
  for (const Curve& curve : keys.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.source != nullptr) {
        EXPECT_EQ(point.source->record.spec.problem.n_q, 1);
      }
    }
  }
}

TEST(CurveSeries, BackwardComparesWithItsOwnMinimum) {
  const auto points = fixtures::shown(fixtures::backward());
  const CurveSet set = build_curves(points, io_filter(points), everything());
  EXPECT_EQ(set.pass, Pass::bwd);
  const CurvePoint* least = at(find(set, "", CurveKind::compulsory, Quantity::sm_l2), 2048);
  ASSERT_NE(least, nullptr);
  EXPECT_DOUBLE_EQ(least->value, 8.0 * 2048 * 128 * 2 * 132) << "Q, K, V, O, dO in, dQ, dK, dV out";
}

TEST(CurveSeries, NaivesLawIsOfEveryScoreWhateverTheMask) {
  std::vector<PointRecord> records;
  for (std::int64_t n = 1024; n <= 16384; n *= 2) {
    PointRecord record = fixtures::ok_point(fixtures::spec("naive", n));
    record.spec.problem.mask.left = 255;
    record.spec.problem.mask.right = 0;
    records.push_back(record);
  }
  const auto points = fixtures::shown(records);
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const Curve* fit = find(set, "naive", CurveKind::asymptote, Quantity::sm_l2);
  ASSERT_NE(fit, nullptr);
  EXPECT_TRUE(fit->label.contains(QStringLiteral("·N²\n"))) << fit->label.toStdString();
}

TEST(CurveSeries, UnderAWindowTheLawCountsThePairsLeft) {
  std::vector<PointRecord> records;
  for (std::int64_t n = 1024; n <= 16384; n *= 2) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n));
    record.spec.problem.mask.left = 255;
    record.spec.problem.mask.right = 0;
    const double moved = 10 * static_cast<double>(unmasked_pairs(record.spec.problem));
    for (MetricValue& metric : record.kernels[0].metrics) {
      if (metric.name == metric_key::l2_to_sm_bytes) metric.value = moved;
      if (metric.name == metric_key::sm_to_l2_bytes) metric.value = 0;
    }
    records.push_back(record);
  }
  const auto points = fixtures::shown(records);
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const Curve* fit = find(set, "fa2", CurveKind::asymptote, Quantity::sm_l2);
  ASSERT_NE(fit, nullptr);
  EXPECT_TRUE(fit->label.contains(QStringLiteral("·P·d²/M\nslope 1.0"))) << fit->label.toStdString();
  for (const CurvePoint& point : fit->points) {
    AttentionProblem problem = records[0].spec.problem;
    problem.n_q = problem.n_k = static_cast<std::int64_t>(point.n);
    EXPECT_NEAR(point.value / (10 * static_cast<double>(unmasked_pairs(problem))), 1, 1e-6) << point.n;
  }
}

TEST(CurveSeries, GivenLengthsFitNoShorterN) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024, 2048}) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n));
    record.spec.problem.mask.lengths = Mask::Lengths::list;
    record.spec.problem.mask.length_list = {500};
    if (n == 256) record = fixtures::failed_point(record.spec, Disposition::infeasible, "a key length is beyond n_k");
    records.push_back(record);
  }
  const auto points = fixtures::shown(records);
  const CurveSet set = build_curves(points, io_filter(points), everything());
  const Curve* least = find(set, "", CurveKind::compulsory, Quantity::sm_l2);
  ASSERT_NE(least, nullptr);
  EXPECT_EQ(least->points.front().n, 512);
  EXPECT_EQ(set.failed.size(), 1U);
}

TEST(CurveSeries, NothingInNothingOut) {
  const CurveSet set = build_curves({}, io_filter({}), everything());
  EXPECT_TRUE(set.empty());
}

TEST(CurveSeries, ImportsOfOneNameUnderTwoLabelsAreTwoSeries) {
  auto points = fixtures::shown(fixtures::peers());
  auto newer = fixtures::shown(fixtures::peers(), false, 2);
  const auto label = [](std::vector<ShownPoint>& of, const char* words) {
    auto run = std::make_shared<RunInfo>(*of[0].run);
    run->summary.preset = words;
    for (ShownPoint& point : of) point.run = run;
  };
  label(points, "import:torch 2.8");
  const CurveSet one = build_curves(points, io_filter(points), with_peers_of(Ordinate::time));
  ASSERT_EQ(one.curves.size(), 2U);
  EXPECT_EQ(one.curves[1].label, QStringLiteral("torch-flash · time · imported"));
  label(newer, "import:torch 2.9");
  points.insert(points.end(), newer.begin(), newer.end());
  const CurveSet both = build_curves(points, io_filter(points), with_peers_of(Ordinate::time));
  ASSERT_EQ(both.curves.size(), 4U);
  EXPECT_EQ(both.curves[2].label, QStringLiteral("torch-flash (torch 2.8) · time · imported"));
  EXPECT_EQ(both.curves[3].label, QStringLiteral("torch-flash (torch 2.9) · time · imported"));
}

TEST(CurveSeries, SplitsAreChosenOnlyWhereTheyWereSwept) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {8, 16}) {
      PointSpec spec = fixtures::decode_spec("splitkv", n_k);
      spec.tile.splits = splits;
      records.push_back(fixtures::ok_point(spec));
    }
    records.push_back(fixtures::ok_point(fixtures::decode_spec("naive", n_k)));
  }
  const auto points = fixtures::shown(records);
  const ProblemFilter filter = io_filter(points);
  EXPECT_EQ(splits_of(points, filter), (std::vector<int>{8, 16}));
  CurveRequest request = everything();
  request.algorithms = {"naive", "splitkv"};
  request.tile.splits = 16;
  const CurveSet set = build_curves(points, filter, request);
  EXPECT_TRUE(set.title.endsWith("splits 16")) << set.title.toStdString();
  const Curve* curve = find(set, "splitkv", CurveKind::measured, Quantity::sm_l2);
  ASSERT_NE(curve, nullptr);
  ASSERT_EQ(curve->points.size(), 2U);
  for (const CurvePoint& point : curve->points) EXPECT_EQ(point.source->record.spec.tile.splits, 16);
  EXPECT_NE(find(set, "naive", CurveKind::measured, Quantity::sm_l2), nullptr) << "it has no splits to choose";

  // Splits that follow from N are no sweep over splits.
  const auto alone = fixtures::shown({records[0], records[4]});
  EXPECT_TRUE(splits_of(alone, io_filter(alone)).empty());
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
  EXPECT_EQ(filter.state(1).options[0].text, "full");
  filter.choose(0, QStringLiteral("128"));
  filter.update(points);
  ASSERT_EQ(filter.state(0).options.size(), 2U);
  EXPECT_EQ(filter.state(1).options[0].text, "causal");
  EXPECT_TRUE(filter.matches(points[3]));
  EXPECT_FALSE(filter.matches(points[0]));
}

TEST(ProblemFilter, WhatIsUsualComesFirstAndGoesWithoutSaying) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
    records.back().spec.problem.dropout = 0.1;
  }
  const auto dropped = fixtures::shown(records);
  ProblemFilter filter = io_filter(dropped);
  EXPECT_EQ(filter.summary(),
            QStringLiteral("d 128 · mask full · type fp16 · batch × heads 1 × 132 · dropout 0.1 · L2 cold"));
  EXPECT_EQ(filter.stem(), "-d128-1x132-dropout0.1");

  records.push_back(fixtures::ok_point(fixtures::spec("fa2", 256)));
  const auto both = fixtures::shown(records);
  filter.update(both);
  EXPECT_EQ(filter.stem(), "-d128-1x132-dropout0.1") << "points that come later do not lead elsewhere";
  filter = io_filter(both);
  const ProblemFilter::State& state = filter.state(filter.place_of(QStringLiteral("Dropout")));
  ASSERT_EQ(state.options.size(), 2U);
  EXPECT_EQ(state.options[static_cast<std::size_t>(state.current)].text, "0") << "though it has fewer points";
  EXPECT_EQ(filter.stem(), "-d128-1x132-dropout0");

  filter.update(fixtures::shown({fixtures::ok_point(fixtures::spec("fa2", 256))}));
  EXPECT_FALSE(filter.summary().contains("dropout"));
  EXPECT_EQ(filter.stem(), "-d128-1x132");
}

TEST(ProblemFilter, VisitsEveryProblemAsIfItHadBeenChosen) {
  std::vector<PointRecord> records;
  for (const std::int64_t d : {64, 128}) {
    for (const bool causal : {false, true}) {
      if (d == 64 && causal) continue;
      for (const std::int64_t n : {512, 1024}) {
        records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, d)));
        if (causal) records.back().spec.problem.mask = *parse_mask("causal");
      }
    }
  }
  const auto points = fixtures::shown(records);
  ProblemFilter filter = io_filter(points);
  QStringList stems;
  filter.for_each_problem(points, [&](const ProblemFilter& at, const std::vector<ShownPoint>& matched) {
    stems << at.stem();
    EXPECT_EQ(matched.size(), 2U) << at.stem().toStdString();
    for (const ShownPoint& point : points) {
      const bool here = std::any_of(matched.begin(), matched.end(),
                                    [&](const ShownPoint& match) { return match.point == point.point; });
      EXPECT_EQ(at.matches(point), here);
    }
    ProblemFilter chosen = io_filter(points);
    for (const QString& label : at.labels()) {
      const std::size_t f = at.place_of(label);
      const ProblemFilter::State& state = at.state(f);
      chosen.choose(f, state.options[static_cast<std::size_t>(state.current)].id());
      chosen.update(points);
    }
    EXPECT_EQ(chosen.stem(), at.stem());
    EXPECT_EQ(chosen.summary(), at.summary());
  });
  EXPECT_EQ(stems, (QStringList{"-d64-1x132", "-d128-full-1x132", "-d128-causal-1x132"}));
}

TEST(ProblemFilter, FileNamesSayMaskAndPass) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  record.spec.problem.pass = Pass::fwd_bwd;
  record.spec.problem.heads_kv = 12;
  record.spec.problem.batch = 3;
  record.spec.problem.mask.lengths = Mask::Lengths::list;
  record.spec.problem.mask.length_list = {300, 512, 7};
  const auto points = fixtures::shown({record});
  EXPECT_EQ(io_filter(points).stem(), "-d128-lengths.300.512.7-fwd+bwd-3x132-12-KV");
  record.spec.problem.dropout = 0.5;
  const auto dropped = fixtures::shown({record});
  EXPECT_EQ(io_filter(dropped).stem(), "-d128-lengths.300.512.7-fwd+bwd-3x132-12-KV-dropout0.5");
}

}  // namespace
}  // namespace attnscope::ui
