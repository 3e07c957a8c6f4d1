// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "kernels/model/block_order.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/model/schedule.h"
#include "kernels/registry.h"

namespace attnscope {
namespace {

/// Four SMs at 1 GHz (one cycle per nanosecond), no power limit.
DeviceRates four_sms() {
  constexpr UnitCosts peaks{.tensor = 1000, .exponential = 10, .fp32 = 100, .shared = 100, .l2 = 50};
  return {.per_cycle = peaks,
          .fitted_per_cycle = peaks,
          .sm_count = 4,
          .boost_hz = 1e9,
          .dram_bytes_per_second = 1e12,
          .l2_bytes_per_second = 2e12,
          .clock = {},
          .measured_on = "nothing",
          .inherited = false};
}

LaunchTime launch_time(const LaunchLoad& load, DeviceRates rates, double clock_hz) {
  rates.boost_hz = clock_hz;
  return launch_times(std::span(&load, 1), rates).front();
}

double sustained_hz(const std::vector<LaunchLoad>& loads, const DeviceRates& rates) {
  return launch_times(loads, rates).front().clock_hz;
}

/// Equal blocks of four warps with 5 steps and 100 cycles of products at peak; the kernel reaches half of the peak.
LaunchLoad products(double blocks) {
  return {.work = {.steps = 5 * blocks, .tensor_flops = 100e3 * blocks},
          .timing = {.step_latency = 10, .busy = {.tensor = 2}, .overlap = 1, .launch_ns = 30},
          .blocks = blocks,
          .warps = 4,
          .blocks_per_sm = 1};
}

double ns(const LaunchLoad& load) {
  return launch_time(load, four_sms(), 1e9).ns;
}

TEST(PipelineModel, OneWaveIsLatencyAndWork) {
  const LaunchTime time = launch_time(products(4), four_sms(), 1e9);
  EXPECT_NEAR(time.ns, 5 * 10 + 200 + 30, 1e-9);
  EXPECT_NEAR(time.busy(GpuUnit::tensor), 100, 1e-9) << "at the peak, whatever the fitted cost of the work is";
  EXPECT_NEAR(time.launch_ns, 30, 1e-9);
  EXPECT_EQ(time.empty_sms, 0);
  EXPECT_EQ(launch_time(products(3), four_sms(), 1e9).empty_sms, 1);
  EXPECT_EQ(time.waves, 1);
  EXPECT_NEAR(time.idle_ns, 0, 1e-9);
}

/// Constants are cycles of an H200: other GPUs change the time of units at their peak, not issue and latencies.
TEST(PipelineModel, OtherGpusChangePeaksOnly) {
  DeviceRates rates = device_rates(*find_gpu("H200"));
  const double peak = rates.peaks(MatrixInstruction::mma_sync).tensor;
  EXPECT_NEAR(peak, 4096 * 2 / 3.0, 1e-9);
  rates.clock = {.fixed_hz = 1e9};
  LaunchLoad load{.work = {.steps = 1, .rounds = 1, .tensor_flops = 1000 * peak},
                  .timing = {.round_latency = 70, .alone = {.tensor = 0.5}, .busy = {.tensor = 1.25}, .skew = 0.1},
                  .warps = 4};
  const auto cycles = [&] { return launch_times(std::span(&load, 1), rates).front().ns; };
  const double alone = 70 + 500;
  EXPECT_NEAR(cycles(), alone + 1250 + 125, 1e-6) << "on the GPU of the fit";
  rates.per_cycle.tensor /= 2;
  EXPECT_NEAR(cycles(), alone + (2000 + 250) + 125, 1e-6) << "half the tensor rate";
  rates.per_cycle.tensor *= 2;
  rates.mma_sync_share = 1;
  EXPECT_NEAR(cycles(), alone + (2000 / 3.0 + 250) + 125, 1e-6) << "mma.sync reaches the whole peak";
  load.timing.busy.tensor = 0.5;
  EXPECT_NEAR(cycles(), alone + 1000 / 3.0 + 50, 1e-6) << "a cost below the peak scales whole";
}

TEST(PipelineModel, RemainingBlocksCostAWave) {
  EXPECT_NEAR(ns(products(2)), 280, 1e-9) << "half of the SMs";
  const LaunchTime six = launch_time(products(6), four_sms(), 1e9);
  EXPECT_NEAR(six.ns, 2 * 250 + 30, 1e-9);
  EXPECT_EQ(six.waves, 1.5);
  EXPECT_NEAR(six.idle_ns, 125, 1e-9) << "two of four SMs, for one of two waves";
}

TEST(PipelineModel, ResidentBlocksShareUnitsAndHideLatency) {
  LaunchLoad load = products(8);
  load.blocks_per_sm = 2;
  EXPECT_NEAR(ns(load), 2 * 200 + 30, 1e-9) << "the work twice, and the steps' waits behind it";
  load.timing.block_latency = 50;
  EXPECT_NEAR(ns(load), 50 + 2 * 200 + 30, 1e-9) << "a block's own latency once";
  load.timing.overlap = 2;
  EXPECT_NEAR(ns(load), std::hypot(50, 400) + 30, 1e-9);
}

TEST(PipelineModel, FewWarpsExposeLatency) {
  LaunchLoad load = products(4);
  load.timing.alone.tensor = 0.5;
  EXPECT_NEAR(ns(load), 50 + 50 + 200 + 30, 1e-9);
  load.warps = 8;
  EXPECT_NEAR(ns(load), 50 + 25 + 200 + 30, 1e-9) << "two warps on each scheduler";
  load.work.concurrent_steps = 5;
  EXPECT_NEAR(ns(load), 10 + 25 + 200 + 30, 1e-9);
  load.work.rounds = 4 * 3;
  load.timing.round_latency = 7;
  EXPECT_NEAR(ns(load), 10 + 21 + 25 + 200 + 30, 1e-9);
}

TEST(PipelineModel, RegisterLoadsWaitForL1Capacity) {
  LaunchLoad load = products(4);
  const double before = ns(load);
  load.work.register_bytes = 4 * 6000;
  load.work.concurrent_load_bytes = 1000;
  load.timing.refill_latency = 7;
  load.dram_bytes = load.l2_sm_bytes = 1;
  load.l1_bytes = 1000;
  EXPECT_NEAR(ns(load), before, 1e-9) << "there is room for all of a time";
  load.l1_bytes = 400;
  EXPECT_NEAR(ns(load), before + 7 * (15 - 6), 1e-9) << "15 fills of the L1 for 6 times";
  load.l2_sm_bytes = 4;
  EXPECT_NEAR(ns(load), before + 7 * (15 - 6) / 4.0, 1e-9) << "a fourth of them from DRAM";
  load.l2_sm_bytes = 1;
  // Both blocks of an SM need the capacity at once.
  LaunchLoad two = load;
  two.blocks = 8;
  two.blocks_per_sm = 2;
  LaunchLoad unlimited = two;
  unlimited.timing.refill_latency = 0;
  two.work.register_bytes = 8 * 6000;
  EXPECT_NEAR(ns(two), ns(unlimited) + 7 * (30 - 6), 1e-9);
}

TEST(PipelineModel, SlowerUnitGroupLimits) {
  LaunchLoad load = products(4);
  load.work.exponentials = 4 * 500;   // 50 cycles
  load.work.shared_bytes = 4 * 30e3;  // 300 cycles
  load.timing.busy = {.tensor = 2, .exponential = 1, .fp32 = 0, .shared = 1, .l2 = 0};
  EXPECT_NEAR(ns(load), 50 + 300 + 30, 1e-9);
  load.work.shared_bytes = 4 * 20e3;
  const LaunchTime time = launch_time(load, four_sms(), 1e9);
  EXPECT_NEAR(time.ns, 50 + 250 + 30, 1e-9);
}

TEST(PipelineModel, UtilizationUsesIssuedInstructions) {
  LaunchLoad load = products(4);
  load.work.exponentials = 4 * 500;
  load.work.fp32_values = 4 * 320;
  load.work.shared_bytes = 4 * 12800;
  load.l2_sm_bytes = 4 * 6400;
  load.l2_to_sm_bytes = 4 * 5000;
  load.dram_bytes = 3e5;
  load.writeback_bytes = 1e5;
  load.timing.use = {.exponentials = 1.5, .wavefronts = {.exponential = 2, .fp32 = 3, .shared = 0.5, .l2 = 4}};
  DeviceRates rates = four_sms();
  rates.dram_peak_bytes_per_second = 2e12;
  rates.mma_sync_share = rates.fitted_mma_sync_share = 0.5;
  const LaunchTime time = launch_time(load, rates, 2e9);
  EXPECT_NEAR(time.busy(GpuUnit::tensor), 2 * 100 / 2.0, 1e-9) << "mma.sync at half of the peak, at 2 GHz";
  EXPECT_NEAR(time.busy(GpuUnit::exponential), 1.5 * 50 / 2, 1e-9);
  EXPECT_NEAR(time.busy(GpuUnit::shared_memory),
              (0.5 * 100 + 4 * 50 + 2 * 500 / 32.0 + 3 * 10) * 128 / rates.per_cycle.shared / 2, 1e-9);
  EXPECT_NEAR(time.busy(GpuUnit::l2_port), 5000 / rates.per_cycle.l2 / 2, 1e-9);
  EXPECT_NEAR(time.busy(GpuUnit::dram), 100, 1e-9) << "in the launch, at the datasheet's rate";
  load.timing.use.instruction = MatrixInstruction::wgmma;
  EXPECT_NEAR(launch_time(load, rates, 2e9).busy(GpuUnit::tensor), 50, 1e-9);
}

TEST(PipelineModel, FifthWarpDoublesSchedulerLoad) {
  LaunchLoad load = products(4);
  load.warps = 5;
  EXPECT_NEAR(ns(load), 50 + 200 * 2 / 1.25 + 30, 1e-9);
  LaunchLoad beside = products(8);
  beside.blocks_per_sm = 2;
  beside.warps = 5;
  EXPECT_NEAR(ns(beside), 2 * 200 * 2 / 1.25 + 30, 1e-9) << "each block's fifth goes to the first scheduler";
  beside.warps = 3;
  EXPECT_NEAR(ns(beside), 2 * 200 * 2 / 1.5 + 30, 1e-9) << "smaller ones fill up what others left";
  load.work.tensor_flops = 0;
  load.work.shared_bytes = 4 * 20e3;
  load.timing.busy.shared = 1;
  EXPECT_NEAR(ns(load), 50 + 200 + 30, 1e-9) << "shared memory knows no schedulers";
}

TEST(PipelineModel, UnequalBlocksStartInOrder) {
  // Steps of 1.6, 1, 1, 1, 0.4 and 1 times the mean of 250 cycles; the fifth block follows the second, the sixth the
  // third.
  LaunchLoad load = products(6);
  load.work.order = {{.times = 1,
                      .runs = {{.blocks = 1, .steps = 8},
                               {.blocks = 3, .steps = 5},
                               {.blocks = 1, .steps = 2},
                               {.blocks = 1, .steps = 5}}}};
  const LaunchTime time = launch_time(load, four_sms(), 1e9);
  EXPECT_NEAR(time.ns, 2 * 250 + 30, 1e-9);
  EXPECT_NEAR(time.idle_ns, 500 - 6 * 250 / 4.0, 1e-9);
  // With the longest block last, it starts when the first other block ends.
  load.work.order = {{.times = 1,
                      .runs = {{.blocks = 1, .steps = 5},
                               {.blocks = 1, .steps = 2},
                               {.blocks = 3, .steps = 5},
                               {.blocks = 1, .steps = 8}}}};
  EXPECT_NEAR(ns(load), 250 + 400 + 30, 1e-9);
}

TEST(PipelineModel, BlockWorkIsProportionalToRounds) {
  // One block on each of four SMs; one has 9 of 12 rounds and so 3 times the mean work.
  LaunchLoad load = products(4);
  load.work.rounds = 12;
  load.timing.round_latency = 10;
  load.work.order = {
      {.times = 1, .runs = {{.blocks = 3, .steps = 5, .rounds = 1}, {.blocks = 1, .steps = 5, .rounds = 9}}}};
  EXPECT_NEAR(ns(load), 5 * 10 + 9 * 10 + 3 * 200 + 30, 1e-9);
}

TEST(PipelineModel, OtherBlocksHideStepWaits) {
  LaunchLoad load = products(8);
  load.blocks_per_sm = 2;
  load.timing.step_latency = 50;  // 250 cycles, 200 of them hidden by the other block's work
  EXPECT_NEAR(ns(load), 2 * 200 + 50 + 30, 1e-9);
}

TEST(PipelineModel, SingleBlockWaitsAtBarriers) {
  LaunchLoad load = products(4);
  load.timing.skew = 0.2;
  EXPECT_NEAR(ns(load), 50 + 200 + 40 + 30, 1e-9);
  load = products(8);
  load.timing.skew = 0.2;
  load.blocks_per_sm = 2;
  EXPECT_NEAR(ns(load), 2 * 200 + 20 + 30, 1e-9);
}

TEST(PipelineModel, DramAndL2CombineWithSmTime) {
  LaunchLoad load = products(4);
  load.dram_bytes = 1e6;  // 1 us
  const LaunchTime dram = launch_time(load, four_sms(), 1e9);
  EXPECT_NEAR(dram.ns, std::pow(std::pow(250, 4) + std::pow(1000, 4), 0.25) + 30, 1e-6);
  load.l2_sm_bytes = 2e6;  // same duration
  EXPECT_NEAR(ns(load), std::pow(std::pow(250, 4) + 2 * std::pow(1000, 4), 0.25) + 30, 1e-6);
}

TEST(PipelineModel, EarlyStartHidesLaunchOverhead) {
  LaunchLoad early = products(4);
  early.starts_early = true;
  const std::vector<LaunchTime> times = launch_times(std::vector{products(4), early}, four_sms());
  EXPECT_NEAR(times[1].ns, 280, 1e-9) << "by itself it takes as long";
  EXPECT_NEAR(point_ns(times), 280 + 280 - 30, 1e-9);
}

TEST(BusiestGpu, LaunchesIncludeTheCombination) {
  Schedule schedule;
  schedule.gpus = 2;
  schedule.operations = {{.kind = Operation::Kind::attention, .gpu = 0, .launch = 0},
                         {.kind = Operation::Kind::transfer, .gpu = 0},
                         {.kind = Operation::Kind::attention, .gpu = 1, .launch = 0},
                         {.kind = Operation::Kind::combine, .gpu = 1, .launch = 1}};
  std::vector<LaunchTime> times(2);
  times[0].ns = 100;
  times[1].ns = 7;
  const std::vector<LaunchTime> busiest = busiest_gpu_launches(schedule, times);
  ASSERT_EQ(busiest.size(), 2U);
  EXPECT_EQ(busiest[0].ns, 100);
  EXPECT_EQ(busiest[1].ns, 7);
}

/// Products at peak rate draw 1.6 times the power limit, idling 0.2.
DeviceRates capped() {
  DeviceRates rates = four_sms();
  rates.clock = {.idle = 0.2, .tensor = 1.6, .dram = 0, .exponent = 3, .averaging_ns = 0};
  return rates;
}

LaunchLoad peak_products(double tensor_flops) {
  return {.work = {.steps = 4, .tensor_flops = tensor_flops},
          .timing = {.busy = {.tensor = 1}, .overlap = 1},
          .blocks = 4,
          .warps = 4,
          .blocks_per_sm = 1};
}

TEST(LaunchTimes, Fp8OperandsTakeHalfTheTime) {
  LaunchLoad fp8_weights_reference = peak_products(8e6);
  fp8_weights_reference.work.relative_throughput = 2;
  EXPECT_EQ(launch_times(std::vector{fp8_weights_reference}, four_sms()).at(0).ns,
            launch_times(std::vector{peak_products(4e6)}, four_sms()).at(0).ns);
}

TEST(ClockSolver, IsTheHighestWithinThePowerLimit) {
  // At a share s of the boost clock: 0.2 + 1.6 s s^3 = 1, hence s = 0.5^(1/4).
  const std::vector loads{peak_products(4e6)};
  const double clock = sustained_hz(loads, capped());
  EXPECT_NEAR(clock, std::pow(0.5, 0.25) * 1e9, 1e3);
  const LaunchTime time = launch_times(loads, capped()).at(0);
  EXPECT_NEAR(time.clock_hz, clock, 1);
  EXPECT_NEAR(time.ns, 1000 / std::pow(0.5, 0.25), 1e-3);
}

TEST(ClockSolver, IsTheBoostClockBelowThePowerLimit) {
  LaunchLoad load = peak_products(4e6);
  load.timing.busy.tensor = 2.5;  // products take 40% of the time: 0.2 + 0.64
  EXPECT_EQ(sustained_hz(std::vector{load}, capped()), 1e9);
}

TEST(ClockSolver, ShortLoadsIgnoreThePowerLimit) {
  DeviceRates rates = capped();
  rates.clock.averaging_ns = 1e6;
  EXPECT_EQ(sustained_hz(std::vector{peak_products(4e6)}, rates), 1e9) << "five times 1 us";
  EXPECT_NEAR(sustained_hz(std::vector{peak_products(4e12)}, rates), std::pow(0.5, 0.25) * 1e9, 1e3);
}

TEST(ClockSolver, DropsUnderLoadAndWithBusyTensorCores) {
  DeviceRates rates = four_sms();
  rates.clock = {.load = 0.1, .load_ns = 0, .tensor_slope = 0.4, .tensor_threshold = 0.5, .idle = 0, .exponent = 1};
  LaunchLoad load = peak_products(4e6);
  load.timing.busy.tensor = 2;  // busy half of the time
  EXPECT_NEAR(sustained_hz(std::vector{load}, rates), 0.9e9, 1e3);
  EXPECT_NEAR(sustained_hz(std::vector{peak_products(4e6)}, rates), (1 - 0.1 - 0.4 * 0.5) * 1e9, 1e3);
  rates.clock.load_ns = 1e9;
  EXPECT_NEAR(sustained_hz(std::vector{peak_products(4e6)}, rates), 1e9, 1e4) << "not at once";
}

TEST(ClockSolver, IsCommonToAllLaunchesOfAPoint) {
  LaunchLoad idle = peak_products(0);
  idle.timing.launch_ns = 1000;
  // Products take half of the time: 0.2 + 0.8 at boost clock.
  EXPECT_NEAR(sustained_hz(std::vector{peak_products(4e6), idle}, capped()), 1e9, 1e3);
}

TEST(DeviceRates, UseDatasheetAndMarkInherited) {
  const DeviceRates h200 = device_rates(*find_gpu("H200"));
  EXPECT_EQ(h200.per_cycle.tensor, 4096) << "989.4 TFLOP/s are at 1.83 GHz";
  EXPECT_EQ(h200.boost_hz, 1.98e9);
  EXPECT_NEAR(h200.dram_bytes_per_second, 0.9 * 4.8e12, 1);
  EXPECT_FALSE(h200.inherited);
  const DeviceRates a100 = device_rates(*find_gpu("A100"));
  EXPECT_EQ(a100.per_cycle.tensor, 2048);
  EXPECT_EQ(a100.per_cycle.fp32, 64);
  EXPECT_EQ(a100.measured_on, "NVIDIA H200");
  EXPECT_TRUE(a100.inherited);
  for (const char* other : {"H200", "L40S", "rtx-4090"}) EXPECT_EQ(device_rates(*find_gpu(other)).per_cycle.fp32, 128);
  EXPECT_EQ(device_rates(*find_gpu("L40S")).per_cycle.tensor, 1024);
  EXPECT_EQ(device_rates(*find_gpu("rtx-4090")).per_cycle.tensor, 512);

  // Files store no clock.
  DeviceLimits read = *find_gpu("H200");
  read.boost_hz = 0;
  EXPECT_EQ(device_rates(read).boost_hz, 1.98e9) << "known by its name";
  read.name = "NVIDIA H300";
  EXPECT_EQ(device_rates(read).per_cycle.tensor, 4096);
  read.tensor_flops = 4096 * 132 * 1.5e9;
  EXPECT_NEAR(device_rates(read).boost_hz, 1.5e9, 1) << "which its peak was made of";
  read.compute_major = 8;
  read.compute_minor = 9;
  read.tensor_flops = 512 * 132 * 2.5e9;
  EXPECT_NEAR(device_rates(read).boost_hz, 2.5e9, 1);
  EXPECT_EQ(device_rates(read).per_cycle.tensor, 512);
  read.tensor_flops = 0;
  EXPECT_EQ(device_rates(read).boost_hz, 1.7e9) << "no rate was given";
  EXPECT_EQ(device_rates(*find_gpu("H200")).mma_sync_share, 2.0 / 3);
  EXPECT_EQ(device_rates(*find_gpu("A100")).mma_sync_share, 1);
}

TEST(DeviceRates, UseMeasuredRates) {
  const DeviceLimits& a100 = *find_gpu("A100");
  const std::vector<Ceiling> ceilings{
      {.name = "dram_read", .value = 1.8e12, .unit = "byte/s"},
      {.name = "dram_copy", .value = 1.6e12, .unit = "byte/s"},
      {.name = "l2_read", .value = 5e12, .unit = "byte/s", .source = CeilingSource::datasheet}};
  const DeviceRates rates = device_rates(a100, ceilings);
  EXPECT_EQ(rates.dram_bytes_per_second, 1.7e12);
  EXPECT_TRUE(rates.dram_measured);
  EXPECT_EQ(rates.l2_bytes_per_second, device_rates(a100).l2_bytes_per_second) << "a datasheet's is no measurement";
  EXPECT_FALSE(rates.l2_measured);
  EXPECT_EQ(rates.per_cycle, device_rates(a100).per_cycle);
  EXPECT_FALSE(device_rates(a100, std::span(ceilings).first(1)).dram_measured) << "half of what it takes";
}

TEST(PredictTimes, SkipsSetupLaunches) {
  const DeviceLimits& h200 = *find_gpu("H200");
  const AttentionProblem p{.pass = Pass::bwd, .heads_q = 16, .heads_kv = 16, .n_q = 4096, .n_k = 4096, .d = 64};
  for (const char* name : {"naive", "fa1", "fa2", "fa3"}) {
    const Algorithm* algorithm = built_in_algorithms().find(name);
    const AttentionModel model = algorithm->model(p, algorithm->default_config(p, h200), h200);
    const std::vector<LaunchTime> times = predict_times(model, h200);
    std::size_t measured = 0;
    for (const KernelModel& kernel : model.kernels) measured += kernel.setup ? 0 : 1;
    ASSERT_EQ(times.size(), measured) << name;
    for (const LaunchLoad& load : predict_loads(model, h200)) {
      EXPECT_LT(load.writeback_bytes, load.dram_bytes) << name << ": inputs are read while it runs";
    }
    for (const LaunchTime& time : times) {
      EXPECT_GT(time.ns, time.launch_ns) << name;
      for (const GpuUnit unit : gpu_units) EXPECT_GE(time.ns, time.busy(unit)) << name << to_string(unit);
      EXPECT_LE(time.clock_hz, 1.98e9) << name;
    }
  }
}

// FA1's concurrent heads exceed L2 as their number grows, so that DRAM becomes the bottleneck.
TEST(PredictTimes, RowsExceedingL2AreReadFromDram) {
  const DeviceLimits& h200 = *find_gpu("H200");
  const Algorithm* fa1 = built_in_algorithms().find("fa1");
  const auto dram_share = [&](std::int64_t heads) {
    const AttentionProblem p{.heads_q = heads, .heads_kv = heads, .n_q = 1024, .n_k = 1024, .d = 64};
    const KernelModel kernel = fa1->model(p, TileShape{.br = 64, .bc = 64}, h200).kernels.at(0);
    const LaunchLoad load = predict_loads(fa1->model(p, TileShape{.br = 64, .bc = 64}, h200), h200).at(0);
    return load.dram_bytes / static_cast<double>(kernel.traffic.total());
  };
  EXPECT_LT(dram_share(16), 0.15);
  EXPECT_GT(dram_share(132), 0.85);
}

/// A block takes as many cycles as it has steps.
double steps_as_cycles(const BlockRun& block, double /*at_once*/) {
  return block.steps;
}

/// Two concurrent blocks take 1.5 times as long.
double shared(const BlockRun& block, double at_once) {
  return block.steps * (1 + at_once) / 2;
}

BlockOrder one_by_one(const std::vector<double>& steps) {
  RepeatedRuns turn;
  for (const double each : steps) append(turn.runs, {.blocks = 1, .steps = each});
  return {turn};
}

TEST(BlockOrder, MergesEqualBlocks) {
  const BlockOrder order = one_by_one({3, 3, 2, 3});
  const std::vector<BlockRun> expected{{.blocks = 2, .steps = 3}, {.blocks = 1, .steps = 2}, {.blocks = 1, .steps = 3}};
  EXPECT_EQ(order.front().runs, expected);
}

TEST(ScheduledCycles, BlockTakesTheFirstFreeSlot) {
  // 5, 3 and 2 start. At 2 the third SM takes 4 (until 6), at 3 the second takes 1 (until 4) and then 6 (until 10).
  const ScheduledCycles dealt = scheduled_cycles(one_by_one({5, 3, 2, 4, 1, 6}), 3, 1, steps_as_cycles);
  EXPECT_EQ(dealt.all, 10);
  EXPECT_EQ(dealt.balanced, 7);
}

TEST(ScheduledCycles, LongestFirstBalances) {
  // 6, 5 and 4 start; 3, 2 and 1 follow when 4, 5 and 6 end.
  EXPECT_EQ(scheduled_cycles(one_by_one({6, 5, 4, 3, 2, 1}), 3, 1, steps_as_cycles).all, 7);
}

TEST(ScheduledCycles, RepeatsRuns) {
  // 4 2 1 4 2 1: at 1 the third SM takes 4 (until 5), at 2 the second takes 2 (until 4); the last block starts at 4.
  const BlockOrder order{
      {.times = 2, .runs = {{.blocks = 1, .steps = 4}, {.blocks = 1, .steps = 2}, {.blocks = 1, .steps = 1}}}};
  const ScheduledCycles dealt = scheduled_cycles(order, 3, 1, steps_as_cycles);
  EXPECT_EQ(dealt.all, 5);
  EXPECT_NEAR(dealt.balanced, 14.0 / 3, 1e-12);
}

TEST(ScheduledCycles, FirstBlocksAreRoundRobin) {
  // Two slots on each of two SMs: 4 and 6 share one, 2 is alone. Both run 1.5 times as long until 4 ends at 6; then 6
  // has a third of its steps left.
  EXPECT_EQ(scheduled_cycles(one_by_one({4, 2, 6}), 2, 2, shared).all, 8);
}

TEST(ScheduledCycles, LastBlocksSpeedUp) {
  // One SM: 4 and 2 start; at 3 comes 6 and both share the SM. 4 ends at 6, when 6 has two thirds of its steps left.
  EXPECT_EQ(scheduled_cycles(one_by_one({4, 2, 6}), 1, 2, shared).all, 6 + 4);
}

/// Reference: assigns each block to the first free slot by linear search.
double greedy_reference(const std::vector<double>& steps, std::size_t places) {
  std::vector<double> ends(places, 0);
  for (const double each : steps) *std::ranges::min_element(ends) += each;
  return std::ranges::max(ends);
}

TEST(ScheduledCycles, MatchesGreedyReference) {
  std::mt19937 random(7);
  for (const int blocks : {1, 30, 131, 132, 133, 700, 2048}) {
    std::vector<double> steps;
    steps.reserve(static_cast<std::size_t>(blocks));
    for (int i = 0; i < blocks; ++i) steps.push_back(1 + static_cast<double>(random() % 40));
    EXPECT_EQ(scheduled_cycles(one_by_one(steps), 132, 1, steps_as_cycles).all, greedy_reference(steps, 132)) << blocks;
  }
}

TEST(ScheduledCycles, LargeLaunchesListOnlyLastBlocks) {
  std::vector<double> steps;
  for (int head = 0; head < 400; ++head) {
    for (int tile = 0; tile < 64; ++tile) steps.push_back(1000 * (tile + 2));
  }
  BlockOrder order = one_by_one(std::vector(steps.begin(), steps.begin() + 64));
  order.front().times = 400;
  const double all = greedy_reference(steps, 132);
  EXPECT_NEAR(scheduled_cycles(order, 132, 1, steps_as_cycles).all, all, 0.005 * all);
  EXPECT_NEAR(scheduled_cycles(order, 132, 1, steps_as_cycles).balanced, 400 * 1000 * (65 * 32 + 64.0) / 132, 1);
}

}  // namespace
}  // namespace attnscope
