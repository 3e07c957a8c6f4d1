// SPDX-License-Identifier: Apache-2.0
#include "kernels/common_knobs.h"
#include "profiler/measure/simulated_device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "profiler/simulator/traffic_simulation.h"
#include "tests/kernels/programs.h"
#include "tests/kernels/random_shapes.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope {
namespace {

using fixtures::h200;
using ::testing::HasSubstr;

AttentionProblem problem_of(std::int64_t heads, std::int64_t n, std::int64_t d) {
  return {.heads_q = heads, .heads_kv = heads, .n_q = n, .n_k = n, .d = d};
}

std::vector<LaunchSimulation> simulate(std::string_view algorithm, const AttentionProblem& problem, const Config& tile,
                                       const SimulationOptions& options = {}) {
  const auto results = simulate_traffic(built_in_algorithms().find(algorithm)->plan(problem, tile, h200()), h200(),
                                        options, CancelToken{});
  EXPECT_TRUE(results.has_value());
  return results.value_or(std::vector<LaunchSimulation>{});
}

double dram_bytes(const std::vector<LaunchSimulation>& launches) {
  double sum = 0;
  for (const LaunchSimulation& launch : launches) sum += launch.dram_read_bytes + launch.dram_write_bytes;
  return sum;
}

double compulsory(const AttentionProblem& problem) {
  return static_cast<double>(compulsory_traffic(problem).total());
}

TEST(Simulation, SmTrafficIsTheClosedFormToTheByte) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const Mask& mask : {Mask::none, Mask::causal}) {
      for (TileShape tile : {TileShape{.br = 64, .bc = 64}, TileShape{.br = 48, .bc = 80}}) {
        const AttentionProblem problem{
            .mask = mask, .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 1000, .n_k = 777, .d = 64};
        if (algorithm->refusal(problem, tile, h200())) tile.br = 64;
        const AttentionPlan plan = algorithm->plan(problem, tile, h200());
        const auto results = simulate_traffic(plan, h200(), {.max_touches = 1'000'000'000}, CancelToken{});
        ASSERT_TRUE(results.has_value());
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
          EXPECT_TRUE((*results)[i].complete);
          EXPECT_EQ((*results)[i].traffic, plan.launches[i].traffic) << algorithm->name() << plan.launches[i].name;
        }
      }
    }
  }
}

TEST(Simulation, ColdStartMovesCompulsoryBytes) {
  test::Shapes shapes(20261203);
  int simulated = 0;
  for (int i = 0; i < 400; ++i) {
    const AttentionProblem p = shapes.edge_problem();
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      const Config config = shapes.config(*algorithm, p, h200());
      if (p.gpus > 1 || algorithm->refusal(p, config, h200())) continue;
      const auto launches = simulate_traffic(algorithm->plan(p, config, h200()), h200(), {}, CancelToken{});
      ASSERT_TRUE(launches.has_value());
      EXPECT_GE(dram_bytes(*launches), compulsory(p))
          << algorithm->name() << ' ' << describe(p) << " tile " << describe(config);
      ++simulated;
    }
  }
  EXPECT_GT(simulated, 100);
}

// KernelWork::distinct_bytes is the minimum DRAM traffic in predictions without simulation: each accessed byte once.
TEST(Simulation, InfiniteL2ReadsDistinctBytes) {
  DeviceLimits endless = h200();
  endless.l2_bytes = std::int64_t{4} << 30U;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const Pass pass : {Pass::fwd, Pass::bwd}) {
      for (const Mask& mask : {Mask::none, Mask::causal}) {
        AttentionProblem problem{
            .pass = pass, .mask = mask, .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 1024, .n_k = 768, .d = 64};
        if (algorithm->facts().for_decoding) problem.n_q = 1;
        const Config config = algorithm->default_config(problem, endless);
        if (algorithm->refusal(problem, config, endless)) continue;
        const AttentionPlan plan = algorithm->plan(problem, config, endless);
        const auto played = simulate_traffic(plan, endless, {.max_touches = 1'000'000'000}, CancelToken{});
        ASSERT_TRUE(played.has_value());
        std::size_t next = 0;
        for (const KernelLaunch& launch : plan.launches) {
          if (launch.setup) continue;
          const LaunchSimulation& result = (*played)[next++];
          EXPECT_NEAR((result.dram_read_bytes + result.dram_write_bytes) / launch.work.distinct_bytes, 1, 0.02)
              << algorithm->name() << ' ' << launch.name << ' ' << to_string(pass) << ' ' << describe(problem);
        }
      }
    }
  }
}

// Rows of the last tile and splits of few keys: the accumulator's padding is written, Q is read once per head.
TEST(Simulation, DistinctBytesOfRaggedTilesAndShortSplits) {
  const auto expect = [](const char* name, const AttentionProblem& problem, const char* kernel, const Config& config) {
    const AttentionPlan plan = built_in_algorithms().find(name)->plan(problem, config, h200());
    const auto simulated = simulate_traffic(plan, h200(), {}, CancelToken{});
    ASSERT_TRUE(simulated.has_value());
    auto result = simulated->begin();
    for (const KernelLaunch& launch : plan.launches) {
      if (launch.setup) continue;
      const double dram = result->dram_read_bytes + result->dram_write_bytes;
      ++result;
      if (launch.name != kernel) continue;
      EXPECT_NEAR(dram / launch.work.distinct_bytes, 1, 0.01) << kernel;
    }
  };
  expect("fa3", {.pass = Pass::bwd, .heads_q = 10, .heads_kv = 5, .n_q = 129, .n_k = 129, .d = 64}, "bwd",
         TileShape{.br = 128, .bc = 128});
  expect("splitkv", {.batch = 3, .heads_q = 16, .heads_kv = 1, .n_q = 2, .n_k = 512, .d = 64}, "partial",
         Config({.br = 32, .bc = 128}, {{knob::splits, std::int64_t{4}}}));
}

// The simulated part may end before the second head is read; plain extrapolation would miss its bytes.
TEST(Simulation, ExtrapolatedLaunchesMoveAtLeastDistinctBytes) {
  struct Case {
    std::int64_t d;
    TileShape tile;
  };
  for (const auto& [d, tile] :
       {Case{.d = 128, .tile = {.br = 16, .bc = 16}}, Case{.d = 32, .tile = {.br = 64, .bc = 32}}}) {
    const AttentionProblem problem = problem_of(132, 12288, d);
    const auto results = simulate("fa2", problem, tile);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_FALSE(results[0].complete);
    EXPECT_GE(dram_bytes(results), 0.999 * compulsory(problem)) << d;
    EXPECT_LE(dram_bytes(results), 1.2 * compulsory(problem)) << d;
  }
}

TEST(Simulation, BackwardPassesMatchTheClosedForm) {
  for (const char* name : {"fa1", "fa2"}) {
    const AttentionProblem problem{
        .pass = Pass::bwd, .mask = Mask::causal, .heads_q = 4, .heads_kv = 2, .n_q = 700, .n_k = 777, .d = 64};
    AttentionPlan plan = built_in_algorithms().find(name)->plan(problem, Tiling{.br = 64, .bc = 64}, h200());
    const auto results = simulate_traffic(plan, h200(), {.max_touches = 1'000'000'000}, CancelToken{});
    ASSERT_TRUE(results.has_value());
    std::erase_if(plan.launches, [](const KernelLaunch& launch) { return launch.setup; });
    ASSERT_EQ(results->size(), plan.launches.size());
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
      EXPECT_EQ((*results)[i].traffic, plan.launches[i].traffic) << name << plan.launches[i].name;
    }
  }
}

TEST(Simulation, ProblemsThatFitInL2MoveOnlyCompulsoryBytes) {
  const AttentionProblem problem = problem_of(16, 1024, 64);
  const double lse = 16.0 * 1024 * 4;
  EXPECT_NEAR(dram_bytes(simulate("fa2", problem, TileShape{.br = 128, .bc = 64})), compulsory(problem) + lse, 1);
  // FA1's state makes many passes through L2 but one through DRAM: fp32 O, l and m are written at the end.
  const double state = 16.0 * 1024 * (64 + 2) * 4;
  EXPECT_NEAR(dram_bytes(simulate("fa1", problem, TileShape{.br = 64, .bc = 128})), compulsory(problem) + state, 1);
}

// Measured on an H200 with library kernels: 9.08 GB; 4 N^2 + 4 N d gives 9.13 GB.
TEST(Simulation, NaiveMovesScoresThroughDram) {
  const AttentionProblem problem = problem_of(1024, 1024, 64);
  const double dram = dram_bytes(simulate("naive", problem, TileShape{.br = 128, .bc = 128}));
  EXPECT_NEAR(dram / static_cast<double>(standard_attention_bytes(problem)), 1, 0.03);
  EXPECT_NEAR(dram / 9.08e9, 1, 0.03);
}

// Measured on an H200 at batch x heads 1024: 0.539 GB; compulsory 0.537 GB.
TEST(Simulation, Fa2TrafficDependsOnRaster) {
  const AttentionProblem problem = problem_of(1024, 1024, 64);
  const double q_fastest = dram_bytes(simulate("fa2", problem, TileShape{.br = 128, .bc = 64}));
  EXPECT_NEAR(q_fastest / compulsory(problem), 1, 0.02);
  const double heads_fastest =
      dram_bytes(simulate("fa2", problem, Config({.br = 128, .bc = 64}, {{knob::raster, "heads_fastest"}})));
  EXPECT_GT(heads_fastest / compulsory(problem), 2);
}

// DRAM share of the SM<->L2 bytes, measured with counters on an H200: 132 heads, d 64, tile 64 x 448, warm. The working
// set of 132 x N x 392 bytes grows from 0.4 to 1.7 of the nominal 60 MiB.
TEST(Simulation, Fa1MissesGrowGraduallyAsMeasured) {
  const std::map<std::int64_t, double> measured{{512, 0.32},  {640, 0.54}, {768, 0.76}, {896, 0.91},
                                                {1024, 0.97}, {1536, 1.0}, {2048, 1.0}};
  for (const auto& [n, share] : measured) {
    const auto results =
        simulate("fa1", problem_of(132, n, 64), TileShape{.br = 64, .bc = 448}, {.cache = CacheState::warm});
    EXPECT_NEAR(dram_bytes(results) / static_cast<double>(results.front().traffic.total()), share, 0.09) << n;
  }
}

TEST(Simulation, AWarmStartHitsIfTheProblemFits) {
  const AttentionProblem problem = problem_of(16, 1024, 64);
  EXPECT_EQ(dram_bytes(simulate("fa2", problem, TileShape{.br = 128, .bc = 64}, {.cache = CacheState::warm})), 0);
}

TEST(Simulation, SetupLaunchesAreNotSimulated) {
  const AttentionProblem problem = problem_of(16, 1024, 64);
  AttentionPlan plan = built_in_algorithms().find("naive")->plan(problem, Tiling{.br = 64, .bc = 64}, h200());
  ASSERT_EQ(plan.launches.size(), 3U);
  plan.launches[0].setup = true;
  AttentionPlan measured = plan;
  measured.launches.erase(measured.launches.begin());
  for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
    const auto with = simulate_traffic(plan, h200(), {.cache = cache}, CancelToken{});
    const auto without = simulate_traffic(measured, h200(), {.cache = cache}, CancelToken{});
    ASSERT_TRUE(with && without);
    ASSERT_EQ(with->size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ((*with)[i].traffic, plan.launches[i + 1].traffic);
      EXPECT_EQ((*with)[i].dram_read_bytes, (*without)[i].dram_read_bytes);
    }
  }
}

TEST(Simulation, ATruncatedLaunchIsExtrapolated) {
  const AttentionProblem problem = problem_of(132, 2048, 128);
  for (const auto& [algorithm, tile] :
       {std::pair{"fa1", TileShape{.br = 64, .bc = 64}}, std::pair{"fa2", TileShape{.br = 64, .bc = 64}},
        std::pair{"naive", TileShape{.br = 128, .bc = 128}}}) {
    const auto whole = simulate(algorithm, problem, tile, {.max_touches = 1'000'000'000});
    const auto part = simulate(algorithm, problem, tile, {.max_touches = 200'000});
    ASSERT_EQ(whole.size(), part.size());
    EXPECT_TRUE(whole[0].complete);
    EXPECT_FALSE(part[0].complete) << algorithm;
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_EQ(part[i].traffic, whole[i].traffic);
    EXPECT_NEAR(dram_bytes(part) / dram_bytes(whole), 1, 0.1) << algorithm;
  }
}

// Naive attention with scores that fit in L2. Cold, the softmax reads them from DRAM and writes its result back; timed
// after the QK product, it finds them in L2 and writes nothing.
TEST(Simulation, LaunchesHitDataOfEarlierLaunches) {
  const AttentionPlan plan = built_in_algorithms().find("naive")->plan({.n_q = 1024, .n_k = 1024, .d = 64},
                                                                       Tiling{.br = 64, .bc = 64}, h200());
  const auto found = simulate_traffic(plan, h200(), {}, CancelToken{});
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->size(), 3U);
  const LaunchSimulation& qk = (*found)[0];
  const LaunchSimulation& softmax = (*found)[1];
  const LaunchSimulation& pv = (*found)[2];
  constexpr double operand = 1024 * 64 * 2;
  EXPECT_EQ(qk.dram_read_bytes, 2 * operand);
  EXPECT_EQ(qk.dram_in_plan_bytes, 2 * operand) << "the scores stay in the L2";
  EXPECT_GT(qk.dram_write_bytes, 1e6) << "written back at the end of the launch";
  EXPECT_GE(softmax.dram_read_bytes, qk.dram_write_bytes);
  EXPECT_EQ(softmax.dram_in_plan_bytes, 0);
  EXPECT_GT(pv.dram_read_bytes, 2 * operand);
  EXPECT_EQ(pv.dram_in_plan_bytes, 2 * operand) << "V, and O at the end";

  // If nothing stays in L2, both modes are equal.
  DeviceLimits small = h200();
  small.l2_bytes = 400'000;
  const auto displaced = simulate_traffic(plan, small, {}, CancelToken{});
  ASSERT_TRUE(displaced.has_value());
  double alone = 0;
  double in_plan = 0;
  for (const LaunchSimulation& launch : *displaced) {
    alone += launch.dram_read_bytes + launch.dram_write_bytes;
    in_plan += launch.dram_in_plan_bytes;
  }
  EXPECT_LT(in_plan, alone);
  EXPECT_GT(in_plan, 0.8 * alone);
}

TEST(Simulation, OneLaunchIsSimulatedOnce) {
  const AttentionPlan plan =
      built_in_algorithms().find("fa2")->plan({.n_q = 512, .n_k = 512, .d = 64}, Tiling{.br = 64, .bc = 64}, h200());
  for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
    const auto found = simulate_traffic(plan, h200(), {.cache = cache}, CancelToken{});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->front().dram_in_plan_bytes, found->front().dram_read_bytes + found->front().dram_write_bytes);
  }
}

TEST(Simulation, AchievedOccupancyCountsResidentBlocks) {
  // At most one block per SM: achieved occupancy is that of one block.
  const auto few = simulate("fa1", problem_of(10, 256, 64), TileShape{.br = 64, .bc = 64});
  EXPECT_EQ(few[0].occupancy.limiter, "grid");
  EXPECT_NEAR(few[0].achieved_warps_pct, few[0].occupancy.warps_pct / few[0].occupancy.blocks_per_sm, 1e-9);
  const auto many = simulate("fa2", problem_of(1024, 1024, 64), TileShape{.br = 128, .bc = 64});
  EXPECT_GT(many[0].achieved_warps_pct, 0.95 * many[0].occupancy.warps_pct);
  EXPECT_LE(many[0].achieved_warps_pct, many[0].occupancy.warps_pct + 1e-9);
}

class SimulatedDeviceTest : public ::testing::Test {
 protected:
  static PointSpec spec(std::string algorithm, const AttentionProblem& problem) {
    return {.algorithm = std::move(algorithm), .problem = problem, .tile = {.br = 64, .bc = 64}};
  }

  std::unique_ptr<Device> device = make_simulated_device(h200(), built_in_algorithms());
  CancelToken cancel;
};

TEST_F(SimulatedDeviceTest, ReportsDeviceInfo) {
  EXPECT_TRUE(device->info().simulated);
  EXPECT_EQ(device->info().uuid, "SIM-NVIDIA-H200");
  EXPECT_EQ(device->info().limits.name, "NVIDIA H200");
  EXPECT_EQ(device->counters().state, CounterState::available);
  EXPECT_EQ(device->free_bytes(), h200().dram_bytes);
  EXPECT_FALSE(device->environment().app_version.empty());
  EXPECT_TRUE(device->environment().driver_version.empty());
  EXPECT_TRUE(device->usable());
}

TEST_F(SimulatedDeviceTest, EveryValueIsSimulatedOrModeled) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    PointSpec point = spec(std::string(algorithm->name()), problem_of(4, 512, 64));
    if (algorithm->refusal(point.problem, point.config(), h200())) {
      point.problem.n_q = 1;
      point.tile = algorithm->default_config(point.problem, h200()).tile;
    }
    const PointRecord record = device->measure(point, {}, cancel);
    ASSERT_EQ(record.disposition, Disposition::ok) << algorithm->name() << ": " << record.reason;
    EXPECT_EQ(record.provenance, Provenance::simulated);
    EXPECT_FALSE(record.max_abs_error.has_value());
    for (const KernelRecord& kernel : record.kernels) {
      EXPECT_EQ(kernel.samples_ns.size(), 1U);
      for (const MetricValue& metric : kernel.metrics) {
        const bool model = (metric.name.starts_with("model_") && !metric.name.ends_with("_pct")) ||
                           metric.name == metric_key::memory_bytes;
        EXPECT_EQ(metric.provenance, model ? Provenance::modeled : Provenance::simulated) << metric.name;
      }
    }
    EXPECT_DOUBLE_EQ(evaluate(metric_key::l2_sm_over_model, record)->value, 1);
    const AttentionPlan plan = algorithm->plan(record.spec.problem, record.spec.config(), h200());
    EXPECT_EQ(*record.kernels[0].metric(metric_key::memory_bytes), static_cast<double>(plan.buffer_bytes()));
    EXPECT_EQ(evaluate(metric_key::time_median_ns, record)->provenance, Provenance::simulated);
  }
}

TEST_F(SimulatedDeviceTest, NaiveHasThreeKernelsAndSum) {
  const PointRecord record = device->measure(spec("naive", problem_of(4, 512, 64)), {}, cancel);
  ASSERT_EQ(record.kernels.size(), 4U);
  EXPECT_EQ(record.kernels[0].kernel, "all");
  for (const std::string_view key : {metric_key::dram_read_bytes, metric_key::dram_write_bytes,
                                     metric_key::l2_to_sm_bytes, metric_key::sm_to_l2_bytes}) {
    double sum = 0;
    for (std::size_t i = 1; i < 4; ++i) sum += evaluate(key, record, record.kernels[i].kernel)->value;
    EXPECT_NEAR(evaluate(key, record)->value, sum, 1e-6) << key;
  }
  // Within the sequence, the second and third kernels find the first one's output in L2.
  double sum = 0;
  for (std::size_t i = 1; i < 4; ++i)
    sum += evaluate(metric_key::time_median_ns, record, record.kernels[i].kernel)->value;
  EXPECT_LT(evaluate(metric_key::time_median_ns, record)->value, sum);
}

TEST_F(SimulatedDeviceTest, ComputeBoundRateIsNearTheH200s) {
  // Large enough to be compute-bound: N^2 d FLOPs over N d bytes. Measured on an H200: 355 TFLOP/s.
  const AttentionProblem problem = problem_of(132, 8192, 128);
  const PointRecord record =
      device->measure({.algorithm = "fa2", .problem = problem, .tile = {.br = 128, .bc = 64}}, {}, cancel);
  const double tflops = evaluate(metric_key::tflops, record)->value;
  EXPECT_NEAR(tflops, 355, 0.1 * 355);
}

TEST_F(SimulatedDeviceTest, InfeasibleAndOutOfMemoryReasonsHaveNumbers) {
  PointRecord record = device->measure(
      {.algorithm = "fa2", .problem = problem_of(1, 256, 64), .tile = {.br = 24, .bc = 64}}, {}, cancel);
  EXPECT_EQ(record.disposition, Disposition::infeasible);
  EXPECT_THAT(text(record.reason), HasSubstr("24"));

  record = device->measure(spec("naive", problem_of(264, 16384, 64)), {}, cancel);
  EXPECT_EQ(record.disposition, Disposition::out_of_memory);
  EXPECT_THAT(text(record.reason), test::HasWords("266 141 GiB"));
  EXPECT_EQ(record.provenance, Provenance::simulated);
  ASSERT_NE(record.kernel("all"), nullptr);
  EXPECT_TRUE(record.kernel("all")->metric(metric_key::model_compulsory_bytes).has_value());
  EXPECT_TRUE(record.kernel("all")->samples_ns.empty());
}

TEST_F(SimulatedDeviceTest, CancelledIsADisposition) {
  cancel.cancel();
  EXPECT_EQ(device->measure(spec("fa2", problem_of(4, 512, 64)), {}, cancel).disposition, Disposition::cancelled);
}

TEST_F(SimulatedDeviceTest, UnknownCountersGetSuggestions) {
  const std::vector<std::string> names{"dram__bytes_read.sum", "dram__bytes_raed.sum", "smsp__inst_executed.sum"};
  const auto unknown = device->unknown_metrics(names);
  ASSERT_EQ(unknown.size(), 2U);
  EXPECT_EQ(unknown[0].name, "dram__bytes_raed.sum");
  EXPECT_EQ(unknown[0].near.at(0), "dram__bytes_read.sum");
  EXPECT_EQ(unknown[1].name, "smsp__inst_executed.sum");
}

TEST_F(SimulatedDeviceTest, RequestedCountersKeepTheirNames) {
  MeasureOptions options;
  options.extra_metrics = {"dram__bytes_read.sum"};
  const PointRecord record = device->measure(spec("fa2", problem_of(4, 512, 64)), options, cancel);
  EXPECT_EQ(record.kernels[0].metric("dram__bytes_read.sum"), record.kernels[0].metric(metric_key::dram_read_bytes));
  ASSERT_TRUE(record.kernels[0].metric("dram__bytes_read.sum").has_value());

  options.counters = false;
  const PointRecord bare = device->measure(spec("fa2", problem_of(4, 512, 64)), options, cancel);
  EXPECT_FALSE(bare.kernels[0].metric(metric_key::dram_read_bytes).has_value());
  EXPECT_TRUE(bare.kernels[0].metric(metric_key::theoretical_occupancy_pct).has_value());
}

}  // namespace
}  // namespace attnscope
