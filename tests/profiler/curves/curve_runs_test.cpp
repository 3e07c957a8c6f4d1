// SPDX-License-Identifier: Apache-2.0
// Values of two runs or GPUs are never merged into one marker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "kernels/registry.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "tests/profiler/curves/curve_helpers.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

std::vector<PointRecord> memory_wall_of(const std::string& algorithm) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  std::erase_if(records, [&](const PointRecord& record) { return record.spec.algorithm != algorithm; });
  return records;
}

std::vector<PointRecord> slowed(std::vector<PointRecord> records, double factor) {
  for (PointRecord& record : records) {
    for (KernelRecord& kernel : record.kernels) {
      for (double& sample : kernel.samples_ns) sample *= factor;
    }
  }
  return records;
}

Run on(const char* gpu, const char* id) {
  Run run = fixtures::run();
  run.limits = *find_gpu(gpu);
  run.device_name = run.limits.name;
  run.device_id = id;
  return run;
}

CurveRequest times() {
  CurveRequest request = everything();
  request.ordinate = Ordinate::time;
  return request;
}

TEST(CurveRuns, SlowedCopyIsSeparateSeries) {
  const auto records = memory_wall_of("fa2");
  Points points;
  points.add(records, fixtures::run(Provenance::measured, "first", "2026-01-01T00:00:00Z"));
  points.add(slowed(records, 1.5), fixtures::run(Provenance::measured, "again", "2026-01-02T00:00:00Z"));
  const Drawn drawn(points, times());
  ASSERT_EQ(drawn.set.curves.size(), 2U);
  const Curve& newest = drawn.set.curves[0];
  const Curve& older = drawn.set.curves[1];
  EXPECT_EQ(newest.name.age, 0);
  EXPECT_EQ(newest.name.runs, "again");
  EXPECT_EQ(older.name.age, 1);
  EXPECT_EQ(older.name.runs, "first");
  ASSERT_EQ(newest.points.size(), records.size());
  ASSERT_EQ(older.points.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double median = summarize(records[i].kernel("all")->samples_ns)->median;
    EXPECT_DOUBLE_EQ(older.points[i].value, median);
    EXPECT_NEAR(newest.points[i].value / median, 1.5, 1e-12);
    EXPECT_EQ(newest.points[i].repeats, 1);
    EXPECT_EQ(drawn.table.run(*newest.points[i].row).title, "again");
    EXPECT_EQ(drawn.table.run(*older.points[i].row).title, "first");
  }
}

TEST(CurveRuns, LaterRunIsNewerAtEqualStart) {
  const auto records = memory_wall_of("fa2");
  Points points;
  points.add(records, fixtures::run(Provenance::measured, "file a"));
  points.add(records, fixtures::run(Provenance::measured, "file b"));
  const Drawn drawn(points, times());
  ASSERT_EQ(drawn.set.curves.size(), 2U);
  EXPECT_EQ(drawn.set.curves[0].name.runs, "file b");
}

TEST(CurveRuns, JoinsRunsWithoutCommonN) {
  auto low = memory_wall_of("fa2");
  const std::vector<PointRecord> high(low.begin() + 4, low.end());
  low.resize(4);
  Points points;
  points.add(high, fixtures::run(Provenance::measured, "high", "2026-01-01T00:00:00Z"));
  points.add(low, fixtures::run(Provenance::measured, "low", "2026-01-02T00:00:00Z"));
  const Drawn drawn(points, times());
  ASSERT_EQ(drawn.set.curves.size(), 1U);
  EXPECT_EQ(drawn.set.curves[0].points.size(), 7U);
  EXPECT_EQ(drawn.set.curves[0].name, (SeriesName{.algorithm = "fa2"})) << "a single curve needs no further name";
}

TEST(CurveRuns, RepeatedNIsSeparateSeries) {
  const auto whole = memory_wall_of("fa2");
  const std::vector<PointRecord> some(whole.begin() + 2, whole.begin() + 4);
  Points points;
  points.add(whole, fixtures::run(Provenance::measured, "whole", "2026-01-01T00:00:00Z"));
  points.add(slowed(some, 1.5), fixtures::run(Provenance::measured, "some", "2026-01-02T00:00:00Z"));
  const Drawn drawn(points, times());
  ASSERT_EQ(drawn.set.curves.size(), 2U);
  EXPECT_EQ(drawn.set.curves[0].name.runs, "some");
  EXPECT_EQ(drawn.set.curves[0].points.size(), 2U);
  EXPECT_EQ(drawn.set.curves[1].name.runs, "whole");
  EXPECT_EQ(drawn.set.curves[1].points.size(), 7U);
}

TEST(CurveRuns, HidesTileSweepAtOneN) {
  Points points;
  points.add(memory_wall_of("fa2"), fixtures::run(Provenance::measured, "wall", "2026-01-01T00:00:00Z"));
  points.add(fixtures::tile_sweep(), fixtures::run(Provenance::measured, "tiles", "2026-01-02T00:00:00Z"));
  CurveRequest request = times();
  request.algorithms = {"fa2"};
  const Drawn drawn(points, request);
  ASSERT_EQ(drawn.set.curves.size(), 1U);
  EXPECT_EQ(drawn.set.curves[0].name, (SeriesName{.algorithm = "fa2"}));
  EXPECT_EQ(drawn.set.curves[0].points.size(), 7U);
  // Four tiles are a map, three are not.
  for (const std::size_t tiles : {4U, 3U}) {
    std::vector<PointRecord> records;
    for (const auto& [br, bc] : {std::pair(64, 32), std::pair(64, 64), std::pair(64, 128), std::pair(128, 32)}) {
      if (records.size() < tiles) records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096, br, bc)));
    }
    Points few;
    few.add(memory_wall_of("fa2"), fixtures::run(Provenance::measured, "wall", "2026-01-01T00:00:00Z"));
    few.add(records, fixtures::run(Provenance::measured, "tiles", "2026-01-02T00:00:00Z"));
    EXPECT_EQ(Drawn(few, request).set.curves.size(), tiles == 4 ? 1U : 2U);
  }
  // With the fastest tile per N, the sweep is drawn.
  request.tile.rule = TileSelection::Rule::fastest;
  const Drawn fastest(points, request);
  EXPECT_EQ(fastest.set.curves.size(), 2U);
}

TEST(CurveRuns, NewerSinglePointDoesNotLead) {
  Points points;
  points.add(memory_wall_of("fa2"), fixtures::run(Provenance::measured, "wall", "2026-01-01T00:00:00Z"));
  points.add({memory_wall_of("fa2")[3]}, fixtures::run(Provenance::measured, "point", "2026-01-02T00:00:00Z"));
  const Drawn drawn(points, times());
  ASSERT_EQ(drawn.set.curves.size(), 2U);
  EXPECT_EQ(drawn.set.curves[0].name.runs, "wall");
  EXPECT_EQ(drawn.set.curves[1].name.runs, "point");
}

TEST(CurveRuns, EachRunUsesItsTile) {
  std::vector<PointRecord> before;
  std::vector<PointRecord> after;
  for (const std::int64_t n : {1024, 2048, 4096, 8192}) {
    before.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64)));
    after.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 128, 64)));
  }
  Points points;
  points.add(before, fixtures::run(Provenance::measured, "before", "2026-01-01T00:00:00Z"));
  points.add(after, fixtures::run(Provenance::measured, "after", "2026-01-02T00:00:00Z"));
  const Drawn drawn(points, everything());
  const Curve* newest = drawn.find("fa2", CurveKind::measured, Quantity::sm_l2, 0);
  const Curve* older = drawn.find("fa2", CurveKind::measured, Quantity::sm_l2, 1);
  ASSERT_NE(newest, nullptr);
  ASSERT_NE(older, nullptr);
  EXPECT_EQ(drawn.record(newest->points[0]).spec.tile.br, 128);
  EXPECT_EQ(drawn.record(older->points[0]).spec.tile.br, 64);
  // Half of Br doubles the passes over K and V.
  EXPECT_NEAR(older->points[3].value / newest->points[3].value, 2, 0.05);
}

TEST(CurveRuns, NewerResultReplacesFailure) {
  std::vector<PointRecord> before{
      fixtures::failed_point(fixtures::spec("fa2", 1024), Disposition::crashed, "a bad day")};
  Points points;
  points.add(before, fixtures::run(Provenance::measured, "before", "2026-01-01T00:00:00Z"));
  points.add({fixtures::ok_point(fixtures::spec("fa2", 1024))},
             fixtures::run(Provenance::measured, "after", "2026-01-02T00:00:00Z"));
  EXPECT_TRUE(Drawn(points, everything()).set.failed.empty());
}

// Tiles and bytes differ between the GPUs: each point is compared with the closed form for its tile and device.
TEST(CurveRuns, UsesModelOfEachPoint) {
  Points points;
  for (const auto& [gpu, id, br] : {std::tuple{"H200", "GPU-h", 128}, std::tuple{"A100", "GPU-a", 64}}) {
    std::vector<PointRecord> records;
    for (const std::int64_t n : {1000, 2000}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, br, 64)));
    points.add(records, on(gpu, id));
  }
  const Drawn drawn(points, everything());
  std::set<double> bytes;
  int compared = 0;
  for (const Curve& curve : drawn.set.curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != Quantity::sm_l2) continue;
    for (const CurvePoint& point : curve.points) {
      ASSERT_TRUE(point.over_modeled);
      EXPECT_NEAR(*point.over_modeled, 1.001, 1e-9) << curve.name.device << ' ' << point.n;
      bytes.insert(point.value);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 4);
  EXPECT_EQ(bytes.size(), 4U) << "the bytes differ between the GPUs";
}

TEST(CurveRuns, UsesModelOfDevice) {
  const Algorithm& algorithm = *built_in_algorithms().find("fa2");
  Points points;
  std::set<double> expected;
  for (const auto& [gpu, id] : {std::pair{"H200", "GPU-h"}, std::pair{"A100", "GPU-a"}}) {
    const auto run = on(gpu, id);
    std::vector<PointRecord> records;
    for (const std::int64_t n : {1000, 2000}) {
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, 64));
      record.spec.problem.pass = Pass::bwd;
      ASSERT_FALSE(algorithm.refusal(record.spec.problem, record.spec.config(), run.limits)) << gpu;
      const auto plan = algorithm.plan(record.spec.problem, record.spec.config(), run.limits);
      expected.insert(static_cast<double>(plan.traffic().total()));
      records.push_back(record);
    }
    points.add(records, run);
  }
  const Drawn drawn(points, everything());
  std::set<double> bytes;
  std::size_t models = 0;
  for (const Curve& curve : drawn.set.curves) {
    if (curve.kind != CurveKind::model) continue;
    ++models;
    for (const CurvePoint& point : curve.points) bytes.insert(point.value);
  }
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(models, expected.size() / 2) << "one curve where the devices move the same bytes";
}

TEST(CurveRuns, SeparatesGpusOfOneName) {
  const auto records = memory_wall_of("fa2");
  Points points;
  points.add(records, on("H200", "GPU-11112222-aaaa"));
  points.add(slowed(records, 1.1), on("H200", "GPU-33334444-bbbb"));
  const Drawn drawn(points, times());
  std::set<std::string> devices;
  for (const Curve& curve : drawn.set.curves) {
    EXPECT_EQ(curve.name.age, 0) << "neither run is older than the other";
    devices.insert(curve.name.device);
  }
  EXPECT_THAT(devices, testing::ElementsAre("H200 (11112222)", "H200 (33334444)"));
}

TEST(CurveRuns, L2BoundaryPerDevice) {
  const auto naive = memory_wall_of("naive");  // same tile on both GPUs
  Points points;
  points.add(naive, on("H200", "GPU-h"));
  points.add(naive, on("A100", "GPU-a"));
  // The same device, simulated: it has a boundary already.
  std::vector<PointRecord> simulated = fixtures::memory_wall(true);
  std::erase_if(simulated, [](const PointRecord& record) { return record.spec.algorithm != "naive"; });
  points.add(simulated);
  std::map<std::string, double> nominal;
  for (const Boundary& boundary : Drawn(points, everything()).set.boundaries) {
    EXPECT_TRUE(nominal.emplace(boundary.device, boundary.at.n_nominal).second) << boundary.device;
  }
  ASSERT_EQ(nominal.size(), 2U);
  EXPECT_NEAR(nominal.at("H200"), std::sqrt(62914560.0 / (132 * 2)), 10);
  EXPECT_NEAR(nominal.at(device_title(points.table(), 1)),
              std::sqrt(static_cast<double>(find_gpu("A100")->l2_bytes) / (132 * 2)), 10);
}

TEST(CurveRuns, SeparatesImportLabels) {
  CurveRequest request = times();
  request.algorithms = {"torch-flash", "torch-cudnn"};
  Points points;
  points.add(fixtures::peers(), fixtures::run(Provenance::imported, "torch 2.8"));
  {
    const Drawn one(points, request);
    ASSERT_EQ(one.set.curves.size(), 2U);
    EXPECT_EQ(one.set.curves[1].name, (SeriesName{.algorithm = "torch-flash"}));
  }
  points.add(fixtures::peers(), fixtures::run(Provenance::imported, "torch 2.9"));
  const Drawn both(points, request);
  ASSERT_EQ(both.set.curves.size(), 4U);
  EXPECT_EQ(both.set.curves[2].name, (SeriesName{.algorithm = "torch-flash", .label = "torch 2.8"}));
  EXPECT_EQ(both.set.curves[3].name, (SeriesName{.algorithm = "torch-flash", .label = "torch 2.9"}));
}

}  // namespace
}  // namespace attnscope::analysis
