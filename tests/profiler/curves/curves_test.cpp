// SPDX-License-Identifier: Apache-2.0
// Curves of one run: values, models, fits and failures.
#include "profiler/curves/curves.h"
#include "kernels/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/model/io_model.h"
#include "messages/curves.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/rounds.h"
#include "profiler/units/number_format.h"
#include "tests/profiler/curves/curve_helpers.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

double model_bytes(const PointSpec& spec) {
  const Algorithm& algorithm = *built_in_algorithms().find(spec.algorithm);
  return static_cast<double>(algorithm.plan(spec.problem, spec.config(), fixtures::h200()).traffic().total());
}

TEST(Curves, PlotsStoredBytes) {
  const Drawn drawn(fixtures::memory_wall());
  const Curve* dram = drawn.curve("fa1", CurveKind::measured, Quantity::dram);
  EXPECT_EQ(dram->provenance, Provenance::measured);
  EXPECT_EQ(dram->name, (SeriesName{.algorithm = "fa1"}));
  const CurvePoint* point = at(dram, 4096);
  const KernelRecord* all = drawn.record(*point).kernel("all");
  EXPECT_DOUBLE_EQ(point->value,
                   *all->metric(metric_key::dram_read_bytes) + *all->metric(metric_key::dram_write_bytes));
  EXPECT_FALSE(point->settled) << "no write-back was counted";
  EXPECT_EQ(dram->points.size(), 7U);
}

TEST(Curves, HeadlineComparesTheExtremesAtTheLargestCommonN) {
  const Drawn drawn(fixtures::memory_wall());
  const Quantity quantity = std::ranges::find(drawn.set.curves, CurveKind::measured, &Curve::kind)->quantity;
  const auto value = [&](const char* name) {
    return at(drawn.curve(name, CurveKind::measured, quantity), 8192)->value;
  };
  const auto [less, more] =
      std::minmax({std::pair(value("naive"), "Naive"), std::pair(value("fa1"), "FA1"), std::pair(value("fa2"), "FA2")});
  EXPECT_EQ(headline(drawn.set), Message(msg::curves::headline_bytes{.less = less.second,
                                                                     .more = more.second,
                                                                     .place = position_text(drawn.set, 8192),
                                                                     .quantity = quantity_title(quantity),
                                                                     .ratio = number_text(more.first / less.first)}));
  CurveSet alone = drawn.set;
  std::erase_if(alone.curves, [](const Curve& curve) { return curve.name.algorithm != "fa2"; });
  EXPECT_TRUE(headline(alone).empty());
  CurveSet equal = drawn.set;
  for (Curve& curve : equal.curves) {
    for (CurvePoint& point : curve.points) point.value = 1e9;
  }
  EXPECT_TRUE(headline(equal).empty());
}

TEST(Curves, HeadlineComparesSeriesOfTheFirstPanelsGpu) {
  Drawn drawn(fixtures::memory_wall());
  const Message alone = headline(drawn.set);
  const std::vector<Curve> one_gpu = drawn.set.curves;
  for (Curve& curve : drawn.set.curves) {
    curve.name.device = "B";
    curve.panels = {1};
    for (CurvePoint& point : curve.points) point.value *= 7;
  }
  for (Curve curve : one_gpu) {
    curve.name.device = "A";
    curve.panels = {0};
    drawn.set.curves.push_back(std::move(curve));
  }
  EXPECT_EQ(headline(drawn.set), Message(msg::curves::headline_on{.device = "A", .headline = alone}));
}

TEST(Curves, PlotsSettledBytesIfKnown) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  const double counted = evaluate(metric_key::dram_bytes, record)->value;
  record.kernels[0].metrics.push_back(
      {std::string(metric_key::dram_writeback_bytes), 5e6, "byte", Provenance::measured});
  const Drawn drawn({record});
  const CurvePoint* point = at(drawn.find("fa2", CurveKind::measured, Quantity::dram), 1024);
  EXPECT_DOUBLE_EQ(point->value, counted + 5e6);
  EXPECT_TRUE(point->settled);
}

TEST(Curves, ModelIsClosedFormOfShownTile) {
  const Drawn drawn(fixtures::memory_wall());
  const CurvePoint* model = at(drawn.find("fa2", CurveKind::model, Quantity::sm_l2), 8192);
  const CurvePoint* measured = at(drawn.find("fa2", CurveKind::measured, Quantity::sm_l2), 8192);
  ASSERT_NE(measured, nullptr);
  EXPECT_DOUBLE_EQ(model->value, model_bytes(drawn.record(*measured).spec));
  EXPECT_NEAR(measured->value / model->value, 1.001, 1e-9);
}

TEST(Curves, ModelHasTheSmallerOfEquallyCommonTiles) {
  const std::vector<PointRecord> records{fixtures::ok_point(fixtures::spec("fa2", 1024, 128, 64)),
                                         fixtures::ok_point(fixtures::spec("fa2", 2048, 64, 64))};
  const Drawn drawn(records);
  // Q and O once, 4 bytes of LSE per row, K and V once for each of 2048 / 64 row tiles; 132 heads.
  EXPECT_DOUBLE_EQ(at(drawn.find("fa2", CurveKind::model, Quantity::sm_l2), 2048)->value,
                   132.0 * (2 * 524'288 + 8'192 + 32 * 2 * 524'288));
}

TEST(Curves, CompulsoryBytesHaveNoAlgorithm) {
  const Drawn drawn(fixtures::memory_wall());
  const CurvePoint* least = at(drawn.find("", CurveKind::compulsory, Quantity::sm_l2), 1024);
  EXPECT_DOUBLE_EQ(least->value, 4.0 * 1024 * 128 * 2 * 132);
}

TEST(Curves, FailedPointsAreMarkers) {
  const Drawn drawn(fixtures::memory_wall());
  ASSERT_EQ(drawn.set.failed.size(), 1U);
  const FailedPoint& failed = drawn.set.failed[0];
  EXPECT_EQ(failed.algorithm, "naive");
  EXPECT_EQ(failed.n, 16384);
  EXPECT_EQ(drawn.table.disposition(failed.row), Disposition::out_of_memory);
  EXPECT_THAT(text(drawn.record(failed.row).reason), ::testing::HasSubstr("132 GiB"));
  EXPECT_FALSE(has_point_at(drawn.find("naive", CurveKind::measured, Quantity::dram), 16384));
}

TEST(Curves, RepeatsShowMedianAndRange) {
  struct Case {
    std::vector<double> factors;
    std::size_t middle;
  };
  for (const Case& each : {Case{{1.0, 1.2, 1.1}, 2}, Case{{1.2, 1.0}, 1}}) {
    std::vector<PointRecord> records;
    for (const double factor : each.factors) {
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
      for (MetricValue& metric : record.kernels[0].metrics) {
        if (metric.name == metric_key::dram_read_bytes) metric.value = 1e6 * factor;
        if (metric.name == metric_key::dram_write_bytes) metric.value = 0;
      }
      records.push_back(record);
    }
    const Drawn drawn(records);
    const CurvePoint* point = at(drawn.find("fa2", CurveKind::measured, Quantity::dram), 1024);
    EXPECT_EQ(point->repeats, static_cast<int>(each.factors.size()));
    EXPECT_DOUBLE_EQ(point->value, 1e6 * each.factors[each.middle]);
    EXPECT_EQ(point->row, each.middle) << "the point that has this value, of two the lower";
    EXPECT_DOUBLE_EQ(point->low, 1e6);
    EXPECT_DOUBLE_EQ(point->high, 1.2e6);
  }
}

PointRecord timed(std::int64_t n, double ns, double half_spread, int br = 128) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n, br));
  record.kernels[0].samples_ns = {ns - half_spread, ns - half_spread, ns, ns + half_spread, ns + half_spread};
  return record;
}

TEST(Curves, IntervalCoversAllRepeats) {
  CurveRequest request = everything();
  request.ordinate = Ordinate::time;
  const Drawn drawn(Points({timed(1024, 1000, 20), timed(1024, 1010, 60), timed(1024, 990, 5)}), request);
  const CurvePoint* point = at(drawn.find("fa2", CurveKind::measured, Quantity::time), 1024);
  EXPECT_EQ(point->value, 1000);
  EXPECT_EQ(point->low, 950);
  EXPECT_EQ(point->high, 1070);
  EXPECT_EQ(point->row, 0U);
}

TEST(Curves, ZerosAreNotPlotted) {
  PointRecord record = timed(1024, 5, 5);  // the first quartile is 0
  for (MetricValue& metric : record.kernels[0].metrics) {
    if (metric.unit == "byte" && metric.provenance == Provenance::measured) metric.value = 0;
  }
  const PointTable table = Points({record, timed(2048, 0, 0)}).table();
  for (const Quantity quantity : {Quantity::dram, Quantity::sm_l2, Quantity::rate}) {
    EXPECT_FALSE(read_value(table, 0, quantity));
  }
  EXPECT_TRUE(read_value(table, 0, Quantity::time));
  EXPECT_FALSE(read_value(table, 1, Quantity::time));
  EXPECT_FALSE(read_value(table, 1, Quantity::rate));
}

TEST(Curves, CompulsoryBytesHaveTwelvePointsPerOctave) {
  const Drawn drawn(fixtures::memory_wall());
  std::vector<double> octave;
  for (const CurvePoint& point : drawn.curve("", CurveKind::compulsory, Quantity::sm_l2)->points) {
    EXPECT_EQ(point.n, 64 * std::round(point.n / 64));
    if (point.n >= 8192) octave.push_back(point.n);
  }
  ASSERT_EQ(octave.size(), 13U);
  EXPECT_EQ(octave.front(), 8192);
  EXPECT_EQ(octave.back(), 16'384);
  for (std::size_t i = 1; i < octave.size(); ++i) EXPECT_NEAR(octave[i] / octave[i - 1], 1.0595, 0.008);
}

TEST(Curves, ModelHasTheTileOfMostPoints) {
  const Drawn drawn({timed(1024, 10, 1, 64), timed(2048, 20, 1, 128), timed(4096, 40, 1, 128)});
  EXPECT_DOUBLE_EQ(at(drawn.find("fa2", CurveKind::model, Quantity::sm_l2), 1024)->value,
                   model_bytes(fixtures::spec("fa2", 1024, 128)));
}

TEST(Curves, AFailureNextToAResultHasNoMarker) {
  const PointSpec spec = fixtures::spec("fa2", 1024);
  const PointRecord crashed = fixtures::failed_point(spec, Disposition::crashed, "crashed");
  const PointRecord timeout = fixtures::failed_point(spec, Disposition::timeout, "too long");
  EXPECT_TRUE(Drawn({fixtures::ok_point(spec), crashed}).set.failed.empty());
  EXPECT_TRUE(Drawn({crashed, fixtures::ok_point(spec)}).set.failed.empty());
  const Drawn both({crashed, timeout});
  ASSERT_EQ(both.set.failed.size(), 1U);
  EXPECT_EQ(both.set.failed[0].row, 1U) << "the last one";
}

TEST(Curves, BytesDifferBeyondTheirCountSpread) {
  const PointTable none;
  for (const Quantity quantity : {Quantity::dram, Quantity::sm_l2}) {  // 1.01 / 0.99 = 1.0202
    for (const auto& [worse, better, differs] :
         {std::tuple(1021.0, 1000.0, true), std::tuple(1020.0, 1000.0, false), std::tuple(1.021, 1.0, true),
          std::tuple(1000.0, 1021.0, false), std::tuple(1.0, 0.0, false)}) {
      EXPECT_EQ(differs_significantly(none, {.value = worse}, {.value = better}, quantity), differs) << worse;
    }
  }
}

TEST(Curves, BytesOfRoundsHaveQuartiles) {
  const auto counted = [](double bytes) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
    for (MetricValue& metric : record.kernels[0].metrics) {
      if (metric.name == metric_key::dram_read_bytes) metric.value = bytes;
      if (metric.name == metric_key::dram_write_bytes) metric.value = 0;
      if (metric.name == metric_key::l2_to_sm_bytes) metric.value = 2 * bytes;
      if (metric.name == metric_key::sm_to_l2_bytes) metric.value = 0;
    }
    std::erase_if(record.kernels[0].metrics,
                  [](const MetricValue& metric) { return metric.name == metric_key::dram_writeback_bytes; });
    return record;
  };
  PointRecord record = counted(1e6);
  add_round(record, 1, counted(3e6));
  add_round(record, 2, counted(2e6));
  const Drawn drawn({record});
  for (const auto& [quantity, factor] : {std::pair{Quantity::dram, 1.0}, std::pair{Quantity::sm_l2, 2.0}}) {
    const CurvePoint* point = at(drawn.find("fa2", CurveKind::measured, quantity), 1024);
    EXPECT_DOUBLE_EQ(point->value, factor * 2e6);
    EXPECT_DOUBLE_EQ(point->low, factor * 1.5e6);
    EXPECT_DOUBLE_EQ(point->high, factor * 2.5e6);
    EXPECT_EQ(point->repeats, 1) << "one point";
  }
}

TEST(Curves, LengthListsHaveNoInterpolation) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 1536, 2048, 4096}) {
    PointSpec spec = fixtures::spec("fa2", n);
    spec.problem.batch = 2;
    spec.problem.mask = *parse_mask("lengths:1000/700");
    records.push_back(fixtures::ok_point(spec));
  }
  const Drawn drawn(records);
  int theory = 0;
  for (const Curve& curve : drawn.set.curves) {
    if (curve.kind == CurveKind::measured) continue;
    ++theory;
    EXPECT_LE(curve.points.size(), 4U);
  }
  EXPECT_GT(theory, 1);
}

TEST(Curves, QuantitiesAreMetrics) {
  for (const auto& [quantity, depends_on_clock] : {std::pair{Quantity::dram, false}, std::pair{Quantity::sm_l2, false},
                                                   std::pair{Quantity::time, true}, std::pair{Quantity::rate, true}}) {
    const Metric* metric = find_metric(metric_of(quantity));
    ASSERT_NE(metric, nullptr) << metric_of(quantity);
    EXPECT_EQ(metric->depends_on_clock, depends_on_clock) << metric->key;
  }
}

TEST(Curves, SeparatesSimulatedAndMeasured) {
  Points points(fixtures::memory_wall(false));
  points.add(fixtures::memory_wall(true));
  const Drawn drawn(points, everything());
  int measured = 0;
  int simulated = 0;
  for (const Curve& curve : drawn.set.curves) {
    if (curve.kind != CurveKind::measured) continue;
    (curve.provenance == Provenance::simulated ? simulated : measured)++;
    for (const CurvePoint& point : curve.points) {
      EXPECT_EQ(drawn.record(point).provenance, curve.provenance);
      EXPECT_EQ(point.repeats, 1);
    }
  }
  EXPECT_EQ(measured, 6);
  EXPECT_EQ(simulated, 6);
}

TEST(Curves, SelectsOneTilePerAlgorithm) {
  auto records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::tile_sweep()) records.push_back(record);
  const Points points(records);
  CurveRequest request = everything();
  const Drawn widest(points, request);
  const auto tile_at = [](const Drawn& drawn, double n) {
    const CurvePoint* point = at(drawn.find("fa2", CurveKind::measured, Quantity::sm_l2), n);
    return point == nullptr ? TileShape{0, 0} : drawn.record(*point).spec.tile;
  };
  EXPECT_EQ(tile_at(widest, 4096), tile_at(widest, 2048));
  EXPECT_TRUE(has_tile(tile_at(widest, 4096)));

  request.tile = {TileSelection::Rule::exact, TileShape{64, 32}, {}};
  const Drawn exact(points, request);
  const Curve* only = exact.find("fa2", CurveKind::measured, Quantity::sm_l2);
  ASSERT_NE(only, nullptr);
  ASSERT_EQ(only->points.size(), 1U);
  EXPECT_EQ(tile_at(exact, 4096), (TileShape{64, 32}));

  request.tile.rule = TileSelection::Rule::fastest;
  const Drawn fastest(points, request);
  const CurvePoint* quick = at(fastest.find("fa2", CurveKind::measured, Quantity::sm_l2), 4096);
  const double best = evaluate(metric_key::time_median_ns, fastest.record(*quick))->value;
  for (const PointRecord& record : records) {
    if (record.spec.algorithm != "fa2" || record.spec.problem.n_k != 4096) continue;
    const auto time = evaluate(metric_key::time_median_ns, record);
    if (time) {
      EXPECT_GE(time->value, best);
    }
  }
}

TEST(Curves, PrefersFasterTileOnTie) {
  for (const double second : {500.0, 2000.0}) {
    PointRecord wide = fixtures::ok_point(fixtures::spec("fa2", 1024, 128, 64));
    PointRecord small = fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64));
    wide.kernels[0].samples_ns = {1000};
    small.kernels[0].samples_ns = {second};
    const Drawn drawn({wide, small});
    const CurvePoint* point = at(drawn.find("fa2", CurveKind::measured, Quantity::sm_l2), 1024);
    EXPECT_EQ(point->row, second < 1000 ? 1U : 0U);
  }
}

TEST(Curves, SortsTilesByCoveredLengths) {
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 1024, 128, 64)),
                       fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64)),
                       fixtures::ok_point(fixtures::spec("fa2", 2048, 64, 64))});
  const PointTable table = points.table();
  EXPECT_EQ(tiles_of(table, table.rows()), (std::vector<Config>{TileShape{64, 64}, TileShape{128, 64}}));
}

TEST(Curves, FillsUncoveredNWithOtherTiles) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  records.push_back(fixtures::ok_point(fixtures::spec("fa2", 8192, 64, 64)));
  const Drawn drawn(records);
  const Curve* measured = drawn.curve("fa2", CurveKind::measured, Quantity::sm_l2);
  ASSERT_EQ(measured->points.size(), 4U);
  EXPECT_EQ(drawn.record(measured->points[2]).spec.tile, (TileShape{128, 64}));
  EXPECT_EQ(drawn.record(measured->points[3]).spec.tile, (TileShape{64, 64}));
}

TEST(Curves, ModelsNameTheirTiles) {
  Points points({fixtures::ok_point(fixtures::spec("fa2", 1024, 128, 64))});
  points.add({fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64), true)});
  const Drawn drawn(points, everything());
  std::vector<std::optional<Config>> tiles;
  for (const Curve& curve : drawn.set.curves) {
    if (curve.kind == CurveKind::model) tiles.push_back(curve.tile);
  }
  EXPECT_EQ(tiles, (std::vector<std::optional<Config>>{TileShape{128, 64}, TileShape{64, 64}}));
}

Points& with_peers(Points& points) {
  return points.add(fixtures::memory_wall()).add(fixtures::peers());
}

CurveRequest peer_request(Ordinate ordinate) {
  CurveRequest request = everything();
  request.algorithms.insert({"torch-flash", "torch-cudnn"});
  request.ordinate = ordinate;
  return request;
}

TEST(Curves, PlotsImportedTimes) {
  Points points;
  const Drawn drawn(with_peers(points), peer_request(Ordinate::time));
  std::vector<std::pair<std::string, Provenance>> series;
  for (const Curve& curve : drawn.set.curves) {
    EXPECT_EQ(curve.kind, CurveKind::measured) << "theory speaks of bytes";
    EXPECT_EQ(curve.quantity, Quantity::time);
    series.emplace_back(curve.name.algorithm, curve.provenance);
  }
  EXPECT_EQ(series, (std::vector<std::pair<std::string, Provenance>>{{"naive", Provenance::measured},
                                                                     {"fa1", Provenance::measured},
                                                                     {"fa2", Provenance::measured},
                                                                     {"torch-cudnn", Provenance::imported},
                                                                     {"torch-flash", Provenance::imported}}));
  const Curve* flash = drawn.curve("torch-flash", CurveKind::measured, Quantity::time);
  EXPECT_EQ(flash->points.size(), 7U);
  const CurvePoint* point = at(flash, 4096);
  const double median = *drawn.record(*point).kernel("all")->metric(metric_key::time_median_ns);
  EXPECT_DOUBLE_EQ(point->value, median);
  EXPECT_DOUBLE_EQ(point->low, 0.98 * median);
  EXPECT_DOUBLE_EQ(point->high, 1.05 * median);
  const CurvePoint* ours = at(drawn.find("fa2", CurveKind::measured, Quantity::time), 4096);
  const auto summary = summarize(drawn.record(*ours).kernel("all")->samples_ns);
  EXPECT_DOUBLE_EQ(ours->value, summary->median);
  EXPECT_DOUBLE_EQ(ours->low, summary->q1);
  EXPECT_DOUBLE_EQ(ours->high, summary->q3);
}

TEST(Curves, RatesInvertErrorBars) {
  Points points;
  const Drawn drawn(with_peers(points), peer_request(Ordinate::rate));
  const Curve* ours = drawn.curve("fa2", CurveKind::measured, Quantity::rate);
  EXPECT_EQ(ours->provenance, Provenance::derived);
  const Curve* flash = drawn.curve("torch-flash", CurveKind::measured, Quantity::rate);
  EXPECT_EQ(flash->provenance, Provenance::imported);
  const CurvePoint* point = at(flash, 1024);
  const double nanoseconds = *drawn.record(*point).kernel("all")->metric(metric_key::time_median_ns);
  const double rate = 4.0 * 1024 * 1024 * 128 * 132 / nanoseconds * 1e-3;
  EXPECT_NEAR(point->value / rate, 1, 1e-9);
  EXPECT_NEAR(point->high / rate, 1 / 0.98, 1e-9) << "the fastest quarter";
  EXPECT_NEAR(point->low / rate, 1 / 1.05, 1e-9);
}

TEST(Curves, ImportedAlgorithmsHaveNoModel) {
  Points points;
  const Drawn drawn(with_peers(points), peer_request(Ordinate::bytes));
  for (const Curve& curve : drawn.set.curves) EXPECT_FALSE(curve.name.algorithm.starts_with("torch"));
  EXPECT_NE(drawn.find("fa2", CurveKind::model, Quantity::sm_l2), nullptr);

  PointRecord counted = fixtures::ok_point(fixtures::spec("fa2", 1024));
  counted.spec.algorithm = "torch-flash";
  counted.provenance = Provenance::imported;
  const Points alone({counted});
  const Drawn imported(alone, peer_request(Ordinate::bytes));
  int series = 0;
  for (const Curve& curve : imported.set.curves) {
    if (curve.name.algorithm.empty()) continue;
    EXPECT_EQ(curve.kind, CurveKind::measured);
    EXPECT_EQ(curve.provenance, Provenance::imported);
    ++series;
  }
  EXPECT_EQ(series, 2);
}

TEST(Curves, ImportWithoutTileIsSeparateSeries) {
  Points points(fixtures::memory_wall());
  points.add({fixtures::imported_point("fa2", fixtures::spec("fa2", 1024).problem, 1e6)});
  CurveRequest request = peer_request(Ordinate::time);
  request.tile = {TileSelection::Rule::exact, TileShape{64, 64}, {}};
  const Drawn drawn(points, request);
  ASSERT_EQ(drawn.set.curves.size(), 1U) << "no measured point has that tile; the imported one does not say";
  EXPECT_EQ(drawn.set.curves[0].provenance, Provenance::imported);
  EXPECT_EQ(drawn.set.curves[0].points[0].value, 1e6);
  for (const Config& config : tiles_of(drawn.table, drawn.rows)) EXPECT_TRUE(has_tile(config.tile));
}

TEST(Curves, DecodingUsesKeysAsAxis) {
  const Drawn drawn(fixtures::decoding());
  EXPECT_EQ(drawn.set.queries, 1);
  const Curve* measured = drawn.curve("fa2", CurveKind::measured, Quantity::sm_l2);
  ASSERT_EQ(measured->points.size(), 7U);
  EXPECT_EQ(measured->points.back().n, 65536);
  EXPECT_EQ(drawn.record(measured->points.back()).spec.problem.n_q, 1);
  // K and V once; one row of Q and O.
  const CurvePoint* least = at(drawn.find("", CurveKind::compulsory, Quantity::sm_l2), 65536);
  EXPECT_DOUBLE_EQ(least->value, 16 * (2.0 * 65536 + 2) * 128 * 2);
  const CurvePoint* model = at(drawn.find("fa2", CurveKind::model, Quantity::sm_l2), 4096);
  EXPECT_DOUBLE_EQ(model->value, model_bytes(fixtures::decode_spec("fa2", 4096)));
}

TEST(Curves, SeparatesSquareAndDecoding) {
  auto records = fixtures::memory_wall();
  for (const PointRecord& record : fixtures::decoding()) {
    records.push_back(record);
    records.back().spec.problem.heads_q = records.back().spec.problem.heads_kv = 132;
  }
  const Points points(records);
  const Drawn square(points, everything());
  EXPECT_EQ(square.set.queries, std::nullopt) << "what is usual comes first";
  EXPECT_FALSE(has_point_at(square.find("fa2", CurveKind::measured, Quantity::dram), 65536));
  const Drawn keys(points, everything(), {{"n_q", "1"}});
  EXPECT_EQ(keys.set.queries, 1);
  for (const Curve& curve : keys.set.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.row) {
        EXPECT_EQ(keys.record(point).spec.problem.n_q, 1);
      }
    }
  }
}

TEST(Curves, BackwardHasItsCompulsoryBytes) {
  const Drawn drawn(fixtures::backward());
  const CurvePoint* least = at(drawn.find("", CurveKind::compulsory, Quantity::sm_l2), 2048);
  EXPECT_DOUBLE_EQ(least->value, 8.0 * 2048 * 128 * 2 * 132) << "Q, K, V, O, dO in, dQ, dK, dV out";
}

TEST(Curves, LengthListsDoNotScale) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {256, 512, 1024, 2048}) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n));
    record.spec.problem.mask.lengths = Mask::Lengths::list;
    record.spec.problem.mask.length_list = {500};
    if (n == 256) record = fixtures::failed_point(record.spec, Disposition::infeasible, "a key length is beyond n_k");
    records.push_back(record);
  }
  const Drawn drawn(records);
  const Curve* least = drawn.curve("", CurveKind::compulsory, Quantity::sm_l2);
  EXPECT_EQ(least->points.front().n, 512);
  EXPECT_EQ(drawn.set.failed.size(), 1U);
}

TEST(Curves, OffersOnlySweptSplits) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {8, 16}) {
      PointSpec spec = fixtures::decode_spec("splitkv", n_k);
      spec.knobs.set("splits", std::int64_t{splits});
      records.push_back(fixtures::ok_point(spec));
    }
    records.push_back(fixtures::ok_point(fixtures::decode_spec("naive", n_k)));
  }
  const Points points(records);
  CurveRequest request = everything();
  request.algorithms = {"naive", "splitkv"};
  request.tile.swept = {"splits", 16};
  const Drawn drawn(points, request);
  EXPECT_EQ(swept_knob_values(drawn.table, drawn.rows), (std::vector<KnobValueChoice>{{"splits", 8}, {"splits", 16}}));
  const Curve* curve = drawn.curve("splitkv", CurveKind::measured, Quantity::sm_l2);
  ASSERT_EQ(curve->points.size(), 2U);
  for (const CurvePoint& point : curve->points) EXPECT_EQ(drawn.record(point).spec.knobs.number("splits"), 16);
  EXPECT_NE(drawn.find("naive", CurveKind::measured, Quantity::sm_l2), nullptr) << "it has no splits to choose";

  // Splits that depend on N are not a sweep over splits.
  const Points alone({records[0], records[4]});
  const PointTable table = alone.table();
  EXPECT_TRUE(swept_knob_values(table, table.rows()).empty());
}

TEST(Curves, MarksThrottledPoints) {
  PointRecord slow = fixtures::ok_point(fixtures::spec("fa2", 2048));
  slow.clocks->throttled = true;
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 1024)), slow});
  CurveRequest request = everything();
  request.ordinate = Ordinate::time;
  const Drawn drawn(points, request);
  const Curve* times = drawn.curve("fa2", CurveKind::measured, Quantity::time);
  ASSERT_EQ(times->points.size(), 2U);
  EXPECT_FALSE(times->points[0].throttled);
  EXPECT_TRUE(times->points[1].throttled);
}

TEST(Curves, HidesIncorrectPoints) {
  PointRecord wrong = fixtures::ok_point(fixtures::spec("fa2", 2048));
  wrong.disposition = Disposition::incorrect;
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 1024)), wrong});
  CurveRequest request = everything();
  request.ordinate = Ordinate::time;
  const Drawn drawn(points, request);
  EXPECT_FALSE(has_point_at(drawn.find("fa2", CurveKind::measured, Quantity::time), 2048));
  ASSERT_EQ(drawn.set.failed.size(), 1U);
  EXPECT_EQ(drawn.set.failed[0].n, 2048);
}

TEST(Curves, HidesCancelledPoints) {
  const Points points({fixtures::ok_point(fixtures::spec("fa2", 1024)),
                       fixtures::failed_point(fixtures::spec("fa2", 2048), Disposition::cancelled, "the user")});
  EXPECT_TRUE(Drawn(points, everything()).set.failed.empty());
}

TEST(Curves, EmptyInputGivesEmptySet) {
  const Points points;
  EXPECT_TRUE(Drawn(points, everything()).set.empty());
}

TEST(Curves, UsesAlgorithmTitles) {
  const Registry& ours = known_algorithms();
  EXPECT_EQ(short_title(ours, "fa2"), "FA2");
  EXPECT_EQ(short_title(ours, "naive"), "Naive");
  EXPECT_EQ(short_title(ours, "splitkv"), "Split-KV");
  EXPECT_EQ(short_title(ours, "torch-flash"), "torch-flash");
  EXPECT_EQ(short_title(Registry(), "fa2"), "fa2") << "a program without it does not know it";
}

TEST(Curves, UnknownAlgorithmHasNoModel) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  record.spec.algorithm = "nobody's";
  const PointTable table = fixtures::Points({record}).table();
  CurveRequest request = everything();
  request.algorithms = {record.spec.algorithm};
  const CurveSet set = build_curves(table, table.rows(), request);
  EXPECT_EQ(std::ranges::count(set.curves, CurveKind::measured, &Curve::kind), 2);
  EXPECT_EQ(std::ranges::count(set.curves, CurveKind::model, &Curve::kind), 0);
}

}  // namespace
}  // namespace attnscope::analysis
