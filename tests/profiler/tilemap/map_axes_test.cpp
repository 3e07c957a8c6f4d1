// SPDX-License-Identifier: Apache-2.0
// Maps over other axes than Br x Bc, comparisons in cells, and the points of cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "profiler/plan/axes.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/sweep.h"
#include "profiler/points/problem_filter.h"
#include "profiler/tilemap/tile_map.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

MapLayout layout_of(std::string_view rows, std::string_view columns) {
  const std::vector<PointAxis> axes = point_axes();
  return {*find_axis(axes, columns), *find_axis(axes, rows)};
}

/// FA2 with N x d, 2 x 2 tiles each, and a different time per point.
std::vector<PointRecord> problem_grid() {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    for (const std::int64_t d : {64, 128}) {
      for (const int br : {64, 128}) {
        for (const int bc : {32, 64}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, br, bc, d)));
      }
    }
  }
  return records;
}

PointRecord timed_at(int br, int bc, double nanoseconds) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, br, bc));
  record.kernels[0].samples_ns = {nanoseconds};
  return record;
}

std::vector<std::string> facet_keys(const std::vector<FacetPtr>& facets) {
  std::vector<std::string> keys;
  for (const FacetPtr& facet : facets) keys.push_back(facet->key);
  return keys;
}

TEST(MapAxes, OtherFieldsAreFacets) {
  EXPECT_EQ(facet_keys(fixed_facets(tile_layout())), facet_keys(map_facets()));
  const auto beside = facet_keys(fixed_facets(layout_of("n", "d")));
  EXPECT_THAT(beside, testing::Contains("mask"));
  EXPECT_THAT(beside, testing::Not(testing::Contains("tile"))) << "the fastest tile represents all tiles";
  EXPECT_THAT(beside, testing::Not(testing::Contains("n")));
  EXPECT_THAT(beside, testing::Not(testing::Contains("d")));
  // With Br on an axis, Bc is a facet; with batch on an axis, so are the heads.
  const auto split = facet_keys(fixed_facets(layout_of("br", "batch")));
  for (const char* key : {"bc", "heads_q", "heads_kv"}) EXPECT_THAT(split, testing::Contains(key));
  for (const char* key : {"tile", "heads", "batch", "br"}) EXPECT_THAT(split, testing::Not(testing::Contains(key)));
  // Every field and knob is on an axis or a facet.
  for (const auto& [rows, columns] : {std::pair{"n", "d"}, std::pair{"br", "batch"}, std::pair{"heads", "splits"}}) {
    const MapLayout layout = layout_of(rows, columns);
    std::vector<FacetPtr> all = fixed_facets(layout);
    all.push_back(layout.x.facet);
    all.push_back(layout.y.facet);
    const PointSpec base = fixtures::spec("fa2", 1024);
    for (const char* change : {"n_q=512", "n_k=2048", "d=64", "batch=2", "heads_q=4", "heads_kv=4", "br=16", "bc=16",
                               "mask=causal", "pass=bwd", "dtype=bf16", "dropout=0.25"}) {
      const std::string_view text(change);
      const bool tile = text.starts_with("br") || text.starts_with("bc");
      if (tile && !layout.covers_field("br")) continue;
      PointSpec other = base;
      ASSERT_TRUE(set_field(*find_field(text.substr(0, text.find('='))), other, text.substr(text.find('=') + 1)));
      const Points points({fixtures::failed_point(base, Disposition::infeasible, "not asked"),
                           fixtures::failed_point(other, Disposition::infeasible, "not asked")});
      const PointTable table = points.table();
      const auto codes = combined_codes(table, all);
      EXPECT_NE(codes[0], codes[1]) << change << " beside " << rows << " x " << columns;
    }
  }
}

TEST(MapAxes, MapsNByDWithFastestTile) {
  const Points points(problem_grid());
  const PointTable table = points.table();
  const MapLayout layout = layout_of("n", "d");
  ProblemFilter filter(all_map_facets(), combined_facet(layout.x, layout.y));
  filter.restrict_to(fixed_facets(layout), combined_facet(layout.x, layout.y));
  filter.update(table, swept_rows(table, table.rows(), layout));
  const TileMap map = build_map(table, filter.rows(), {.layout = layout, .shown = {.metric = "tflops"}});
  ASSERT_EQ(map.y.size(), 3U);
  ASSERT_EQ(map.x.size(), 2U);
  EXPECT_EQ(map.y.values[1].text, "2048");
  EXPECT_EQ(map.x.values[1].text, "128");
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      const TileCell& cell = map.cells[row][column];
      const PointSpec spec = table.spec(cell.row);
      EXPECT_EQ(spec.problem.n_k, map.y.values[row].order);
      EXPECT_EQ(spec.problem.d, map.x.values[column].order);
      double most = 0;
      for (const PointRecord& record : points.records()) {
        if (record.spec.problem == spec.problem) most = std::max(most, evaluate("tflops", record)->value);
      }
      EXPECT_DOUBLE_EQ(*cell.value, most);
      EXPECT_EQ(cell.repeats, 1) << "other tiles are no repeats";
    }
  }
  EXPECT_FALSE(map.best.empty()) << "a rate has a best, also of several problems";
  const TileMap times = build_map(table, filter.rows(), {.layout = layout, .shown = {.metric = "time_median_ns"}});
  EXPECT_TRUE(times.best.empty()) << "a shorter problem's time is no better one";
  EXPECT_TRUE(times.fastest.empty());
  EXPECT_EQ(times.better, BetterDirection::neither);
}

TEST(MapAxes, FilterIgnoresAxes) {
  const Points points(problem_grid());
  const PointTable table = points.table();
  const MapLayout layout = layout_of("n", "d");
  ProblemFilter filter(all_map_facets(), combined_facet(tile_layout().x, tile_layout().y));
  filter.restrict_to(fixed_facets(tile_layout()), combined_facet(tile_layout().x, tile_layout().y));
  filter.update(table, table.rows());
  EXPECT_EQ(filter.rows().size(), 4U);
  EXPECT_FALSE(filter.options("d").empty());
  filter.restrict_to(fixed_facets(layout), combined_facet(layout.x, layout.y));
  filter.update(table, table.rows());
  EXPECT_EQ(filter.rows().size(), 24U) << "all N and d, of every tile";
  EXPECT_TRUE(filter.options("d").empty());
  EXPECT_EQ(filter.summary().find(" d "), std::string::npos) << filter.summary();
}

TEST(MapAxes, OffersVaryingAxes) {
  const Points points(problem_grid());
  const PointTable table = points.table();
  std::set<std::string> keys;
  for (const PointAxis& axis : varying_axes(table, table.rows())) keys.insert(axis.key());
  EXPECT_THAT(keys, testing::IsSupersetOf({"n", "n_k", "d", "br", "bc", "tile"}));
  for (const char* constant : {"mask", "pass", "batch", "algorithm", "device"}) EXPECT_FALSE(keys.contains(constant));
}

TEST(ComparedValues, ComputesSharesAndPlateau) {
  const Points points(
      {timed_at(64, 64, 1000), timed_at(64, 128, 1020), timed_at(128, 64, 1031), timed_at(128, 128, 2000)});
  const PointTable table = points.table();
  const TileMap map =
      build_map(table, table.rows(), {.shown = {.metric = "time_median_ns", .as = Comparison::share_of_best}});
  EXPECT_EQ(map.unit, "percent");
  EXPECT_EQ(map.better, BetterDirection::more);
  EXPECT_DOUBLE_EQ(*map.at({0, 0}).value, 100);
  EXPECT_DOUBLE_EQ(*map.at({1, 1}).value, 50);
  EXPECT_DOUBLE_EQ(*map.at({1, 1}).own, 2000);
  EXPECT_DOUBLE_EQ(*map.at({1, 1}).over, 1000);
  EXPECT_EQ(map.at({1, 1}).provenance, Provenance::derived);
  EXPECT_THAT(map.plateau, testing::UnorderedElementsAre(TileMap::Place{0, 0}, TileMap::Place{0, 1}))
      << "1031 lies 3.1% beyond";
  const TileMap rates = build_map(table, table.rows(), {.shown = {.metric = "tflops"}});
  EXPECT_THAT(rates.plateau, testing::UnorderedElementsAre(TileMap::Place{0, 0}, TileMap::Place{0, 1}));
}

TEST(ComparedValues, RatioToModelMatchesRecord) {
  std::vector<PointRecord> records;
  for (const int br : {64, 128}) {
    for (const int bc : {32, 64}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096, br, bc)));
  }
  const PointTable table = Points(records).table();
  const TileMap map =
      build_map(table, table.rows(), {.shown = {.metric = "l2_sm_bytes", .as = Comparison::over_model}});
  EXPECT_TRUE(map.shown.is_centered_at_one());
  for (const auto& line : map.cells) {
    for (const TileCell& cell : line) {
      ASSERT_TRUE(cell.value);
      EXPECT_NEAR(*cell.value, 1.001, 1e-6) << "the fixture adds 0.1% to the closed form";
      EXPECT_EQ(cell.provenance, Provenance::derived);
      EXPECT_NEAR(*cell.own / *cell.over, *cell.value, 1e-12);
    }
  }
  EXPECT_TRUE(has_model("time_median_ns"));
  EXPECT_FALSE(has_model("sm_cycles"));
}

/// Returns a point whose quartiles are `nanoseconds` ± `half`.
PointRecord scattered(int bc, double nanoseconds, double half) {
  PointRecord record = timed_at(64, bc, nanoseconds);
  record.kernels[0].samples_ns = {nanoseconds - half, nanoseconds - half, nanoseconds, nanoseconds + half,
                                  nanoseconds + half};
  return record;
}

TEST(ComparedValues, ShareIntervalFollowsValue) {
  Points points;
  points.add({scattered(64, 1200, 100), scattered(128, 2400, 200)}, fixtures::run());
  const PointTable table = points.table();
  const std::vector<Row> rows{0, 1};
  const TileMap shares =
      build_map(table, rows, {.shown = {.metric = "time_median_ns", .as = Comparison::share_of_best}});
  EXPECT_DOUBLE_EQ(shares.at({0, 1}).low, 100 * 1200 / 2600.0);
  EXPECT_DOUBLE_EQ(shares.at({0, 1}).high, 100 * 1200 / 2200.0);
}

TEST(ExploredPoints, ReplaceMapPoints) {
  std::vector<PointRecord> sweep{timed_at(64, 64, 10), timed_at(64, 128, 20), timed_at(128, 64, 30),
                                 timed_at(128, 128, 40)};
  std::vector<PointRecord> asked{timed_at(64, 64, 12), timed_at(64, 128, 22), timed_at(128, 64, 32),
                                 timed_at(128, 128, 42), timed_at(96, 64, 25)};
  asked[3] = fixtures::failed_point(asked[3].spec, Disposition::timeout, "too long");
  Points points;
  points.add(sweep, fixtures::run(Provenance::measured, "tiles"));
  analysis::Run explored = fixtures::run(Provenance::measured, "explore", "2026-03-01T00:00:00Z");
  explored.preset = explorer_preset;
  points.add(asked, explored);
  const PointTable table = points.table();
  const TileMap map = build_tile_map(table, table.rows(), "time_median_ns");
  ASSERT_EQ(map.y.size(), 3U) << "Br 96 lies between";
  EXPECT_DOUBLE_EQ(*map.at({0, 0}).value, 12);
  EXPECT_TRUE(map.at({0, 0}).again);
  EXPECT_DOUBLE_EQ(*map.at({1, 0}).value, 25);
  EXPECT_FALSE(map.at({1, 0}).again) << "the cell was empty before";
  EXPECT_DOUBLE_EQ(*map.at({2, 1}).value, 40) << "a failed point does not replace a value";
  EXPECT_TRUE(map.hidden.empty());
  EXPECT_THAT(map.shown_runs, testing::ElementsAre(1U, 0U));
}

TEST(ExploredPoints, EveryRunReplacesOlderOnes) {
  Points points;
  points.add({timed_at(64, 64, 10), timed_at(64, 128, 20), timed_at(128, 64, 30), timed_at(128, 128, 40)},
             fixtures::run(Provenance::measured, "tiles"));
  const auto explore = [&](const std::string& day, const std::vector<PointRecord>& asked) {
    analysis::Run explored = fixtures::run(Provenance::measured, "explore " + day, "2026-03-" + day + "T00:00:00Z");
    explored.preset = explorer_preset;
    points.add(asked, explored);
  };
  explore("02", {timed_at(64, 64, 12), timed_at(128, 128, 42)});
  explore("01", {timed_at(64, 64, 11), timed_at(64, 128, 21), timed_at(256, 64, 50)});
  const PointTable table = points.table();
  const TileMap map = build_tile_map(table, table.rows(), "time_median_ns");
  const std::tuple<int, int, double, bool> cells[] = {
      {0, 0, 12, true}, {0, 1, 21, true}, {1, 0, 30, false}, {1, 1, 42, true}, {2, 0, 50, false}};
  for (const auto& [row, column, value, again] : cells) {
    EXPECT_DOUBLE_EQ(*map.at({row, column}).value, value) << row << ' ' << column;
    EXPECT_EQ(map.at({row, column}).again, again) << row << ' ' << column;
    EXPECT_EQ(map.at({row, column}).repeats, 1) << row << ' ' << column;
  }
  EXPECT_THAT(map.shown_runs, testing::ElementsAre(1U, 2U, 0U));
}

TEST(ExploredPoints, NewestLeadsIfAlone) {
  Points points;
  for (const char* when : {"2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"}) {
    analysis::Run explored = fixtures::run(Provenance::measured, when, when);
    explored.preset = explorer_preset;
    points.add({timed_at(64, 64, 10)}, explored);
  }
  const PointTable table = points.table();
  const TileMap map = build_tile_map(table, table.rows(), "time_median_ns");
  EXPECT_THAT(map.shown_runs, testing::ElementsAre(1U));
  ASSERT_EQ(map.hidden.size(), 1U);
  EXPECT_EQ(map.hidden[0], 0U);
}

TEST(MapPoints, QueriesFollowKeys) {
  std::vector<PointRecord> records = problem_grid();
  std::erase_if(records, [](const PointRecord& record) {
    return record.spec.tile != TileShape{128, 64} || (record.spec.problem.n_k == 4096 && record.spec.problem.d == 64);
  });
  const PointTable table = Points(records).table();
  const TileMap map = build_map(table, table.rows(), {.layout = layout_of("d", "n_k"), .shown = {.metric = "tflops"}});
  int missing = 0;
  for (int row = 0; row < static_cast<int>(map.y.size()); ++row) {
    for (int column = 0; column < static_cast<int>(map.x.size()); ++column) {
      const auto point = point_of(table, map, {row, column});
      ASSERT_TRUE(point);
      if (map.at({row, column}).disposition) {
        EXPECT_EQ(*point, table.spec(map.at({row, column}).row));
        continue;
      }
      ++missing;
      EXPECT_EQ(point->problem.n_k, 4096);
      EXPECT_EQ(point->problem.n_q, 4096) << "the map over n_k uses points with n_q == n_k";
      EXPECT_EQ(point->problem.d, 64);
    }
  }
  EXPECT_EQ(missing, 1);
}

TEST(MapPoints, QueriesStayUnlessBothPointsAreSquare) {
  std::vector<PointRecord> records;
  for (const auto& [n, d] : {std::pair(1024, 64), std::pair(4096, 64), std::pair(1024, 128)})
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 128, 64, d)));
  records[1].spec.problem.n_q = 1;
  const PointTable table = Points(records).table();
  const TileMap map = build_map(table, table.rows(), {.layout = layout_of("d", "n_k"), .shown = {.metric = "tflops"}});
  ASSERT_FALSE(map.at({1, 1}).disposition);
  const auto point = point_of(table, map, {1, 1});
  ASSERT_TRUE(point);
  EXPECT_EQ(point->problem.n_k, 4096);
  EXPECT_EQ(point->problem.d, 128);
  EXPECT_EQ(point->problem.n_q, 1024) << "as in its row: the column was measured with one query";
}

TEST(MapPoints, ImportedCellsHaveNoPoint) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048}) {
    for (const std::int64_t d : {64, 128}) {
      records.push_back(fixtures::imported_point("torch-flash", fixtures::spec("fa2", n, 64, 64, d).problem, 1e6));
    }
  }
  const PointTable table = Points(records).table();
  const TileMap map = build_map(table, table.rows(), {.layout = layout_of("n", "d"), .shown = {.metric = "tflops"}});
  ASSERT_FALSE(map.empty());
  EXPECT_FALSE(point_of(table, map, {0, 0}));
}

/// Parses the point's axes as the command line does.
std::optional<PointSpec> read_again(const PointSpec& spec) {
  std::vector<attnscope::Axis> axes;
  for (const std::string& text : axis_arguments(spec)) {
    Result<attnscope::Axis, Message> axis = parse_axis(text, built_in_algorithms());
    if (!axis) return std::nullopt;
    axes.push_back(std::move(axis).value());
  }
  const auto point = make_point(axes, CacheState::cold, fixtures::h200(), built_in_algorithms());
  return point ? std::optional(*point) : std::nullopt;
}

TEST(Commands, ReproducePoint) {
  PointSpec causal = fixtures::spec("fa2", 4096, 64, 128);
  causal.problem.mask = Mask::causal;
  causal.problem.heads_kv = causal.problem.heads_q / 2;
  causal.knobs.set("warps", std::int64_t{4});
  PointSpec few = fixtures::decode_spec("fa2", 8192);
  for (const PointSpec& spec : {fixtures::spec("naive", 1024), causal, few}) {
    const auto again = read_again(spec);
    ASSERT_TRUE(again) << collect_command(spec);
    EXPECT_EQ(*again, spec) << collect_command(spec);
  }
  EXPECT_EQ(launch_command(fixtures::spec("fa2", 4096)).substr(0, 31), "attnscope launch algorithm=fa2 ");
}

}  // namespace
}  // namespace attnscope::analysis
