// SPDX-License-Identifier: Apache-2.0
#include "profiler/tilemap/tile_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/problem_filter.h"
#include "profiler/units/number_format.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

std::vector<PointRecord> sweep_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return records;
}

/// The map of all points, which must share problem, algorithm and device.
struct Mapped {
  Mapped(const Points& points, std::string_view metric)
      : records(points.records()), table(points.table()), map(build_tile_map(table, table.rows(), metric)) {}
  explicit Mapped(const std::vector<PointRecord>& given, std::string_view metric) : Mapped(Points(given), metric) {}

  [[nodiscard]] const TileCell& at(int br, int bc) const { return map.at(place(br, bc)); }
  [[nodiscard]] TileMap::Place place(int br, int bc) const {
    const auto index = [](const MapAxis& axis, int number) {
      return static_cast<int>(std::ranges::find(axis.values, number, &FacetValue::order) - axis.values.begin());
    };
    return {index(map.y, br), index(map.x, bc)};
  }

  [[nodiscard]] const PointRecord& record(Row row) const { return records[row]; }

  std::vector<PointRecord> records;  ///< index: row
  PointTable table;
  TileMap map;
};

/// Returns a tile whose quartiles are `nanoseconds` ± `half_spread`.
PointRecord timed(int br, int bc, double nanoseconds, double half_spread) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, br, bc));
  record.kernels[0].samples_ns = {nanoseconds - half_spread, nanoseconds - half_spread, nanoseconds,
                                  nanoseconds + half_spread, nanoseconds + half_spread};
  return record;
}

TEST(TileMap, AssignsPointsToCells) {
  const auto records = sweep_of("fa2");
  const Mapped mapped(records, metric_key::l2_sm_bytes);
  EXPECT_EQ(mapped.map.collected, static_cast<int>(records.size()));
  for (Row row = 0; row < records.size(); ++row) {
    const TileCell& cell = mapped.at(records[row].spec.tile.br, records[row].spec.tile.bc);
    EXPECT_EQ(cell.disposition, records[row].disposition);
    EXPECT_EQ(cell.row, row);
    EXPECT_EQ(cell.value.has_value(), records[row].disposition == Disposition::ok);
    if (cell.value) {
      EXPECT_DOUBLE_EQ(*cell.value, evaluate(metric_key::l2_sm_bytes, records[row])->value);
    }
  }
  EXPECT_FALSE(mapped.at(80, 224).disposition) << "never collected: no disposition, no zero";
  EXPECT_EQ(mapped.at(112, 96).disposition, Disposition::timeout);
}

TEST(TileMap, TrafficDependsOnOneTileSide) {
  const TileMap fa2 = Mapped(sweep_of("fa2"), metric_key::l2_sm_bytes).map;
  for (const auto& row : fa2.cells) {
    std::optional<double> first;
    for (const TileCell& cell : row) {
      if (!cell.value) continue;
      if (first) {
        EXPECT_DOUBLE_EQ(*cell.value, *first);
      }
      first = cell.value;
    }
  }
  const TileMap fa1 = Mapped(sweep_of("fa1"), metric_key::l2_to_sm_bytes).map;
  for (std::size_t column = 0; column < fa1.x.size(); ++column) {
    std::optional<double> first;
    for (const auto& row : fa1.cells) {
      if (!row[column].value) continue;
      if (first) {
        EXPECT_DOUBLE_EQ(*row[column].value, *first);
      }
      first = row[column].value;
    }
  }
}

TEST(TileMap, IgnoresPointsWithoutTile) {
  auto records = sweep_of("fa2");
  const TileMap without = Mapped(records, metric_key::time_median_ns).map;
  const PointRecord other = fixtures::imported_point("fa2", records.front().spec.problem, 1e6);
  records.insert(records.begin(), other);
  const TileMap with = Mapped(records, metric_key::time_median_ns).map;
  EXPECT_EQ(with.y.values, without.y.values);
  EXPECT_EQ(with.collected, without.collected);
  EXPECT_TRUE(Mapped({other}, metric_key::time_median_ns).map.empty());
}

TEST(TileMap, FastestIsIndependentOfMetric) {
  const auto records = sweep_of("fa2");
  const Mapped mapped(records, metric_key::registers);
  ASSERT_FALSE(mapped.map.fastest.empty());
  const PointRecord& fastest = mapped.record(mapped.map.at(mapped.map.fastest.front()).row);
  const double best = evaluate(metric_key::time_median_ns, fastest)->value;
  for (const PointRecord& record : records) {
    if (record.disposition != Disposition::ok) continue;
    EXPECT_GE(evaluate(metric_key::time_median_ns, record)->value, best);
  }
}

TEST(TileMap, BestFollowsMetric) {
  const auto records = sweep_of("fa2");
  for (const auto& [metric, better] : {std::pair{metric_key::l2_sm_bytes, BetterDirection::less},
                                       std::pair{metric_key::time_median_ns, BetterDirection::less},
                                       std::pair{metric_key::tflops, BetterDirection::more}}) {
    const TileMap map = Mapped(records, metric).map;
    EXPECT_EQ(map.better, better) << metric;
    ASSERT_FALSE(map.best.empty()) << metric;
    EXPECT_EQ(map.at(map.best.front()).value, better == BetterDirection::less ? map.minimum : map.maximum) << metric;
  }
  const TileMap time = Mapped(records, metric_key::time_median_ns).map;
  EXPECT_EQ(time.best, time.fastest);
  EXPECT_TRUE(Mapped(records, metric_key::achieved_occupancy_pct).map.best.empty()) << "all of one value";
  for (const std::string_view metric : {metric_key::dram_bandwidth, metric_key::l2_sm_bandwidth}) {
    const TileMap map = Mapped(records, metric).map;
    EXPECT_LT(map.minimum, map.maximum) << metric;
    EXPECT_TRUE(map.best.empty()) << metric << ": no better end";
  }
}

TEST(TileMap, FastestLeadsOnTie) {
  // FA2's bytes do not depend on Bc: all tiles of the largest Br share the minimum.
  const Mapped mapped(sweep_of("fa2"), metric_key::model_l2_sm_bytes);
  ASSERT_GT(mapped.map.best.size(), 1U);
  const auto time_at = [&](TileMap::Place place) {
    return evaluate(metric_key::time_median_ns, mapped.record(mapped.map.at(place).row))->value;
  };
  std::size_t alike = 0;
  for (const auto& row : mapped.map.cells) {
    alike += static_cast<std::size_t>(
        std::ranges::count_if(row, [&](const TileCell& cell) { return cell.value == mapped.map.minimum; }));
  }
  EXPECT_EQ(mapped.map.best.size(), alike);
  for (const TileMap::Place place : mapped.map.best) {
    EXPECT_EQ(mapped.map.at(place).value, mapped.map.minimum);
    EXPECT_GE(time_at(place), time_at(mapped.map.best.front()));
  }
}

TEST(TileMap, FastestIncludesTilesWithinInterval) {
  const std::vector<PointRecord> records{timed(64, 64, 1000, 20), timed(64, 128, 1015, 1), timed(128, 64, 1025, 20),
                                         timed(128, 128, 1500, 20)};
  for (const std::string_view metric : {metric_key::time_median_ns, metric_key::tflops}) {
    const Mapped mapped(records, metric);
    EXPECT_THAT(mapped.map.best, testing::ElementsAre(mapped.place(64, 64), mapped.place(64, 128))) << metric;
    EXPECT_EQ(mapped.map.fastest, mapped.map.best) << metric;
    EXPECT_FALSE(mapped.map.flat) << metric;
  }
  const Mapped bytes(records, metric_key::l2_sm_bytes);
  EXPECT_THAT(bytes.map.fastest, testing::ElementsAre(bytes.place(64, 64), bytes.place(64, 128)));
  EXPECT_THAT(bytes.map.best, testing::ElementsAre(bytes.place(128, 64), bytes.place(128, 128)))
      << "bytes were counted: they have no interval";
}

TEST(TileMap, BoundsAreInclusiveAndTheFirstOfEqualsLeads) {
  // The leader's third quartile is 1020. 1030 is exactly 3% from the best.
  const Mapped bounds({timed(64, 64, 1020, 1), timed(64, 128, 1021, 1), timed(128, 64, 1030, 1),
                       timed(128, 128, 1000, 20), timed(256, 64, 1005, 1), timed(256, 128, 1031, 1)},
                      metric_key::time_median_ns);
  EXPECT_THAT(bounds.map.best,
              testing::ElementsAre(bounds.place(128, 128), bounds.place(256, 64), bounds.place(64, 64)));
  EXPECT_EQ(bounds.map.fastest, bounds.map.best);
  EXPECT_THAT(bounds.map.plateau,
              testing::ElementsAre(bounds.place(64, 64), bounds.place(64, 128), bounds.place(128, 64),
                                   bounds.place(128, 128), bounds.place(256, 64)));
  EXPECT_EQ(bounds.map.minimum, 1000);
  EXPECT_EQ(bounds.map.maximum, 1031);
  for (const std::string_view metric : {metric_key::time_median_ns, metric_key::tflops}) {
    const Mapped ties(
        {timed(64, 64, 2000, 1), timed(64, 128, 1000, 1), timed(128, 64, 1000, 1), timed(128, 128, 1500, 1)}, metric);
    EXPECT_THAT(ties.map.best, testing::ElementsAre(ties.place(64, 128), ties.place(128, 64))) << metric;
    EXPECT_EQ(ties.map.fastest, ties.map.best) << metric;
  }
}

TEST(TileMap, IntervalCoversAllRepeats) {
  const Mapped mapped({timed(64, 64, 1000, 20), timed(64, 64, 1010, 60), timed(64, 64, 990, 5), timed(64, 128, 1200, 1),
                       timed(64, 128, 1900, 2), timed(128, 64, 1500, 1), timed(128, 128, 1800, 1)},
                      metric_key::time_median_ns);
  const TileCell& cell = mapped.at(64, 64);
  EXPECT_EQ(cell.value, 1000);
  EXPECT_EQ(cell.low, 950);
  EXPECT_EQ(cell.high, 1070);
  EXPECT_EQ(mapped.at(64, 128).value, 1200) << "the lower of two";
  EXPECT_EQ(mapped.at(64, 128).high, 1902);
  EXPECT_EQ(mapped.map.spread, 61) << "widths 120, 703, 2 and 2";
  EXPECT_THAT(mapped.map.fastest, testing::ElementsAre(mapped.place(64, 64)));
}

TEST(TileMap, SharesScaleValueAndInterval) {
  const Points points(
      {timed(64, 64, 1250, 50), timed(64, 128, 2000, 0), timed(128, 64, 1600, 40), timed(128, 128, 1000, 100)});
  const PointTable table = points.table();
  const auto map_of = [&](std::string_view metric) {
    return build_map(table, table.rows(), {.shown = {.metric = std::string(metric), .as = Comparison::share_of_best}});
  };
  const TileMap time = map_of(metric_key::time_median_ns);
  const std::tuple<int, int, double, double, double> cells[] = {{0, 0, 80, 100 / 1.3, 100 / 1.2},
                                                                {0, 1, 50, 50, 50},
                                                                {1, 0, 62.5, 100 / 1.64, 100 / 1.56},
                                                                {1, 1, 100, 100 / 1.1, 100 / 0.9}};
  for (const TileMap& map : {time, map_of(metric_key::tflops)}) {
    for (const auto& [row, column, value, low, high] : cells) {
      const TileCell& cell = map.at({row, column});
      EXPECT_DOUBLE_EQ(*cell.value, value) << map.metric;
      EXPECT_NEAR(cell.low, low, 1e-9) << map.metric;
      EXPECT_NEAR(cell.high, high, 1e-9) << map.metric;
      EXPECT_EQ(cell.provenance, Provenance::derived) << map.metric;
    }
    EXPECT_EQ(map.minimum, 50);
    EXPECT_EQ(map.maximum, 100);
    EXPECT_EQ(map.unit, "percent");
  }
  EXPECT_DOUBLE_EQ(*time.at({0, 0}).own, 1250);
  EXPECT_DOUBLE_EQ(*time.at({0, 0}).over, 1000);
  EXPECT_DOUBLE_EQ(*time.spread, 10) << "widths 100, 80 and 200 of 1000";
}

TEST(TileMap, PlacesAndRowsRoundTrip) {
  const Mapped mapped({timed(64, 64, 1, 0), timed(64, 128, 2, 0), timed(128, 64, 3, 0)}, metric_key::time_median_ns);
  EXPECT_THAT(mapped.map.rows(), testing::ElementsAre(0U, 1U, 2U));
  EXPECT_EQ(mapped.map.index_of(Row{0}), mapped.place(64, 64));
  EXPECT_EQ(mapped.map.index_of(Row{1}), mapped.place(64, 128));
  EXPECT_EQ(mapped.map.index_of(Row{2}), mapped.place(128, 64));
  EXPECT_EQ(mapped.map.index_of(Row{3}), std::nullopt);
}

TEST(TileMap, FourTilesAreAMap) {
  const std::vector<PointRecord> four{timed(64, 64, 1, 0), timed(64, 128, 2, 0), timed(128, 64, 3, 0),
                                      timed(128, 128, 4, 0)};
  const std::vector<PointRecord> three(four.begin(), four.begin() + 3);
  Points points;
  points.add(four, fixtures::run(Provenance::measured, "four", "2026-01-01T00:00:00Z"));
  for (const char* day : {"2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"}) {
    points.add(three, fixtures::run(Provenance::measured, day, day));
  }
  const Mapped mapped(points, metric_key::time_median_ns);
  EXPECT_THAT(mapped.map.shown_runs, testing::ElementsAre(0U));
  ASSERT_EQ(mapped.map.hidden.size(), 2U);
  EXPECT_EQ(mapped.map.hidden[0], 2U) << "newest first";
  const std::string text = attnscope::text(runs_text(mapped.table, mapped.map));
  EXPECT_NE(text.find("2026-01-02"), std::string::npos) << text;
  EXPECT_NE(text.find("2026-01-03"), std::string::npos) << text;
  // Two problems: one with four tiles, one with three.
  std::vector<PointRecord> records = four;
  for (PointRecord record : three) {
    record.spec.problem.n_q = record.spec.problem.n_k = 2048;
    records.push_back(record);
  }
  const PointTable table = Points(records).table();
  EXPECT_THAT(swept_rows(table, table.rows()), testing::ElementsAre(0U, 1U, 2U, 3U));
}

TEST(TileMap, IsFlatWithinSpread) {
  const std::vector<PointRecord> alike{timed(64, 64, 1000, 20), timed(64, 128, 1010, 20), timed(128, 64, 1020, 20),
                                       timed(128, 128, 1040, 20)};  // as far apart as the spread
  const TileMap flat = Mapped(alike, metric_key::time_median_ns).map;
  EXPECT_TRUE(flat.flat);
  ASSERT_TRUE(flat.spread);
  EXPECT_DOUBLE_EQ(*flat.spread, 40);
  EXPECT_TRUE(flat.best.empty()) << "none is known to be better";
  EXPECT_TRUE(flat.fastest.empty());
  EXPECT_TRUE(Mapped(alike, metric_key::tflops).map.flat) << "and so are the rates of those times";
  EXPECT_FALSE(Mapped(alike, metric_key::l2_sm_bytes).map.flat) << "their bytes do differ";

  const std::vector<PointRecord> apart{timed(64, 64, 1000, 20), timed(64, 128, 1010, 20), timed(128, 64, 1020, 20),
                                       timed(128, 128, 1050, 20)};
  EXPECT_FALSE(Mapped(apart, metric_key::time_median_ns).map.flat);
}

/// FA2 tiles of one problem with these DRAM read bytes.
std::vector<PointRecord> counted(std::initializer_list<double> reads) {
  std::vector<PointRecord> records;
  int tile = 0;
  for (const double bytes : reads) {
    records.push_back(timed(64 << (tile / 2), 64 << (tile % 2), 1000, 1));
    ++tile;
    for (MetricValue& value : records.back().kernels[0].metrics) {
      if (value.name == metric_key::dram_read_bytes) value.value = bytes;
    }
  }
  return records;
}

TEST(TileMap, IsFlatWithinCountSpread) {
  const auto alike = counted({139.0e6, 139.2e6, 139.1e6, 139.4e6});
  const TileMap flat = Mapped(alike, metric_key::dram_read_bytes).map;
  EXPECT_TRUE(flat.flat) << "0.3% apart";
  ASSERT_TRUE(flat.spread);
  EXPECT_NEAR(*flat.spread, 1.39e6, 1e4) << "1% spread: 0.5% on each side";
  EXPECT_TRUE(flat.best.empty());

  const Mapped apart(counted({139.0e6, 139.5e6, 141.0e6, 160.0e6}), metric_key::dram_read_bytes);
  EXPECT_FALSE(apart.map.flat);
  EXPECT_THAT(apart.map.best, testing::ElementsAre(apart.place(64, 64), apart.place(64, 128)));

  // The simulator has no count spread.
  auto simulated = alike;
  for (PointRecord& record : simulated) {
    record.provenance = Provenance::simulated;
    for (MetricValue& value : record.kernels[0].metrics) value.provenance = Provenance::simulated;
  }
  EXPECT_FALSE(Mapped(simulated, metric_key::dram_read_bytes).map.flat);
}

TEST(TileMap, MarksThrottledTilesForClockMetrics) {
  std::vector<PointRecord> records = sweep_of("fa2");
  std::erase_if(records, [](const PointRecord& record) { return record.disposition != Disposition::ok; });
  records[3].clocks->throttled = true;
  const TileShape tile = records[3].spec.tile;
  for (const auto& [metric, marked] :
       {std::pair{metric_key::time_median_ns, true}, std::pair{metric_key::tflops, true},
        std::pair{metric_key::dram_bandwidth, true}, std::pair{metric_key::l2_sm_bytes, false}}) {
    const Mapped mapped(records, metric);
    std::ptrdiff_t throttled = 0;
    for (const auto& row : mapped.map.cells) throttled += std::ranges::count(row, true, &TileCell::unusual_clock);
    EXPECT_EQ(throttled, marked ? 1 : 0) << metric;
    EXPECT_EQ(mapped.at(tile.br, tile.bc).unusual_clock, marked) << metric;
  }
}

TEST(TileMap, RepeatsShowMedianAndPreferOk) {
  struct Case {
    std::vector<double> values;
    Row shown;
  };
  for (const Case& each : {Case{{10, 30, 20}, 2}, Case{{30, 10}, 1}, Case{{40, 10, 30, 20}, 3}}) {
    std::vector<PointRecord> records;
    for (const double value : each.values) {
      PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec("fa2", 1024, 64, 64)));
      for (MetricValue& metric : record.kernels[0].metrics) {
        if (metric.name == metric_key::registers) metric.value = value;
      }
    }
    records.push_back(fixtures::failed_point(fixtures::spec("fa2", 1024, 64, 64), Disposition::cancelled, "stopped"));
    const Mapped mapped(records, metric_key::registers);
    const TileCell& cell = mapped.map.at({0, 0});
    EXPECT_EQ(cell.disposition, Disposition::ok);
    EXPECT_EQ(cell.repeats, static_cast<int>(each.values.size()));
    EXPECT_EQ(cell.row, each.shown);
    EXPECT_DOUBLE_EQ(*cell.value, each.values[each.shown]) << "of an even number the lower of the two";
    EXPECT_EQ(mapped.map.collected, 1);
    EXPECT_EQ(mapped.map.ok, 1);
    const Mapped without(records, "tensor_utilization_pct");
    EXPECT_EQ(without.map.at({0, 0}).row, each.values.size() - 1) << "the last ok point, not the failed one";
    EXPECT_EQ(without.map.ok, 1);
  }
}

// Regression test: a cell showed the mean of a run and a copy with times x 1.5, next to the TFLOP/s of one of them.
TEST(TileMap, KeepsSlowedCopySeparate) {
  const auto records = sweep_of("fa2");
  auto slowed = records;
  for (PointRecord& record : slowed) {
    for (KernelRecord& kernel : record.kernels) {
      for (double& sample : kernel.samples_ns) sample *= 1.5;
    }
  }
  Points points;
  points.add(records, fixtures::run(Provenance::measured, "first", "2026-01-01T00:00:00Z"));
  points.add(slowed, fixtures::run(Provenance::measured, "again", "2026-01-02T00:00:00Z"));
  const Mapped mapped(points, metric_key::time_median_ns);
  EXPECT_THAT(mapped.map.shown_runs, testing::ElementsAre(1U));
  ASSERT_EQ(mapped.map.hidden.size(), 1U);
  EXPECT_EQ(mapped.map.hidden[0], 0U);
  for (const PointRecord& record : slowed) {
    const TileCell& cell = mapped.at(record.spec.tile.br, record.spec.tile.bc);
    EXPECT_EQ(mapped.table.run_index(cell.row), 1U);
    const auto expected = evaluate(metric_key::time_median_ns, record);
    ASSERT_EQ(cell.value.has_value(), expected && record.disposition == Disposition::ok);
    if (!cell.value) continue;
    EXPECT_DOUBLE_EQ(*cell.value, expected->value);
    EXPECT_EQ(cell.repeats, 1);
  }
}

TEST(TileMap, JoinsRunsWithoutCommonTiles) {
  const auto records = sweep_of("fa2");
  std::vector<PointRecord> half[2];
  for (const PointRecord& record : records) half[record.spec.tile.br > 64 ? 1 : 0].push_back(record);
  Points points;
  points.add(half[0], fixtures::run(Provenance::measured, "low", "2026-01-01T00:00:00Z"));
  points.add(half[1], fixtures::run(Provenance::measured, "high", "2026-01-02T00:00:00Z"));
  const Mapped mapped(points, metric_key::time_median_ns);
  EXPECT_THAT(mapped.map.shown_runs, testing::ElementsAre(1U, 0U));
  EXPECT_TRUE(mapped.map.hidden.empty());
  EXPECT_EQ(mapped.map.collected, static_cast<int>(records.size()));
  EXPECT_EQ(runs_text(mapped.table, mapped.map), Message(msg::tile_map::shown_runs{.runs = "high, low"}));
}

TEST(TileMap, OneRunNeedsNoName) {
  const Mapped mapped(sweep_of("fa2"), metric_key::time_median_ns);
  EXPECT_TRUE(runs_text(mapped.table, mapped.map).empty());
}

TEST(TileMap, PlateauHasTilesBesidesTheBest) {
  // 64 x 32 is within the interval of the best, 64 x 64 within 3% of it only.
  std::vector<PointRecord> records{timed(64, 16, 1000, 15), timed(64, 32, 1010, 15), timed(128, 16, 3000, 15),
                                   timed(128, 32, 3000, 15)};
  EXPECT_FALSE(Mapped(records, metric_key::time_median_ns).map.has_plateau());
  records.push_back(timed(64, 64, 1028, 15));
  const Mapped mapped(records, metric_key::time_median_ns);
  EXPECT_EQ(mapped.map.best.size(), 2U);
  EXPECT_TRUE(mapped.map.has_plateau());
}

TEST(TileMap, SingleTileDoesNotHideMap) {
  const auto records = sweep_of("fa2");
  Points points;
  points.add(records, fixtures::run(Provenance::measured, "tiles", "2026-01-01T00:00:00Z"));
  points.add({fixtures::ok_point(fixtures::spec("fa2", 4096, 64, 64))},
             fixtures::run(Provenance::measured, "curve", "2026-01-02T00:00:00Z"));
  const Mapped mapped(points, metric_key::time_median_ns);
  EXPECT_THAT(mapped.map.shown_runs, testing::ElementsAre(0U));
  ASSERT_EQ(mapped.map.hidden.size(), 1U);
  EXPECT_EQ(mapped.map.hidden[0], 1U);
}

TEST(TileMap, OffersSweptProblems) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  const std::size_t swept = records.size();
  for (const PointRecord& record : fixtures::memory_wall()) {
    if (record.spec.problem.n_k != 4096) records.push_back(record);
  }
  const Points points(records);
  const PointTable table = points.table();
  const std::vector<Row> rows = swept_rows(table, table.rows());
  ASSERT_EQ(rows.size(), swept);
  EXPECT_EQ(rows.back(), swept - 1);
}

TEST(TileMap, EmptyRowsGiveEmptyMap) {
  EXPECT_TRUE(Mapped(std::vector<PointRecord>{}, metric_key::time_median_ns).map.empty());
}

TEST(Slowdowns, HaveShortTexts) {
  EXPECT_EQ(slowdown_text(1), "0%");
  EXPECT_EQ(slowdown_text(1.0004), "0%");
  EXPECT_EQ(slowdown_text(1.0514), "+5.1%");
  EXPECT_EQ(slowdown_text(1.099), "+9.9%");
  EXPECT_EQ(slowdown_text(1.0996), "+10%");
  EXPECT_EQ(slowdown_text(1.994), "+99%");
  EXPECT_EQ(slowdown_text(1.999), "2.0×");
  EXPECT_EQ(slowdown_text(11.2), "11×");
}

TEST(Slowdowns, AreOfTimesOfOneProblem) {
  const PointTable table = fixtures::Points(fixtures::tile_sweep()).table();
  ProblemFilter filter(map_facets(), combined_facet(tile_layout().x, tile_layout().y));
  filter.update(table, table.rows());
  const TileMap times = build_tile_map(table, filter.rows(), metric_key::time_median_ns);
  ASSERT_TRUE(has_slowdowns(times));
  EXPECT_EQ(slowdown(times, *times.minimum), 1);
  EXPECT_FALSE(headline(times).empty());
  EXPECT_FALSE(has_slowdowns(build_tile_map(table, filter.rows(), metric_key::tflops)));
  const MapRequest compared{.shown = {.metric = std::string(metric_key::time_median_ns), .as = Comparison::over_model}};
  EXPECT_FALSE(has_slowdowns(build_map(table, filter.rows(), compared)));
  EXPECT_TRUE(headline(build_tile_map(table, filter.rows(), metric_key::tflops)).empty());
  EXPECT_FALSE(has_slowdowns(TileMap{}));
}

TEST(Slowdowns, HeadlineOfOneTimedTileComparesNothing) {
  std::vector<PointRecord> sweep = fixtures::tile_sweep();
  bool first = true;
  for (PointRecord& record : sweep) {
    if (record.disposition != Disposition::ok || std::exchange(first, false)) continue;
    record = fixtures::failed_point(record.spec, Disposition::infeasible, "too much shared memory");
  }
  const PointTable table = fixtures::Points(sweep).table();
  ProblemFilter filter(map_facets(), combined_facet(tile_layout().x, tile_layout().y));
  filter.update(table, table.rows());
  const TileMap map = build_tile_map(table, filter.rows(), metric_key::time_median_ns);
  ASSERT_TRUE(has_slowdowns(map));
  EXPECT_EQ(fastest_tiles(map).timed, 1U);
  EXPECT_EQ(headline(map), Message(msg::tile_map::headline_single{.tile = place_text(map, fastest_tiles(map).fastest),
                                                                  .time = text(Nanoseconds(*map.minimum))}));
}

}  // namespace
}  // namespace attnscope::analysis
