// SPDX-License-Identifier: Apache-2.0
// Schedules of several GPUs and of the blocks of a launch, with times computed by hand.
#include "kernels/model/schedule.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "kernels/model/block_order.h"
#include "kernels/model/kernel_model.h"

namespace attnscope {
namespace {

using Kind = Operation::Kind;

Schedule schedule_of(std::vector<Operation> operations) {
  Schedule schedule;
  schedule.gpus = 2;
  schedule.operations = std::move(operations);
  return schedule;
}

TEST(ScheduleTimes, PartsAreThoseOfTheBusiestGpu) {
  const Schedule schedule = schedule_of({{.kind = Kind::attention, .gpu = 0},
                                         {.kind = Kind::transfer, .gpu = 0},
                                         {.kind = Kind::attention, .gpu = 1},
                                         {.kind = Kind::combine, .gpu = 1},
                                         {.kind = Kind::combine, .gpu = 0},
                                         {.kind = Kind::transfer, .gpu = 1},
                                         {.kind = Kind::transfer, .gpu = 1}});
  const std::vector<OperationTime> times{{10, 40}, {12, 57}, {15, 65}, {70, 80}, {70, 75}, {20, 30}, {30, 33}};
  const ScheduleTimes all = total_schedule_times(schedule, times);
  EXPECT_EQ(all.ns, 70) << "from the first begin to the last end";
  EXPECT_EQ(all.attention_ns, 50);
  EXPECT_EQ(all.combine_ns, 10);
  EXPECT_EQ(all.exposed_ns, 10);
  EXPECT_EQ(all.copies_ns, 13);
  EXPECT_EQ(all.imbalance, 1.25) << "50 against a mean of 40";
  EXPECT_EQ(total_schedule_times(schedule, times, 100).ns, 100) << "measured separately";
  EXPECT_EQ(total_schedule_times(schedule, times, 100).exposed_ns, 40);
  EXPECT_EQ(total_schedule_times(schedule, times, 55).exposed_ns, 0);
  EXPECT_EQ(total_schedule_times(schedule_of({}), {}).ns, 0);
}

TEST(ScheduleTimes, OperationsWaitForTheirStreamAndAllDependencies) {
  const Schedule schedule = schedule_of({{.kind = Kind::attention, .gpu = 0},
                                         {.kind = Kind::transfer, .gpu = 0},
                                         {.kind = Kind::attention, .gpu = 0, .after = {1}},
                                         {.kind = Kind::attention, .gpu = 1, .after = {0, 1}},
                                         {.kind = Kind::transfer, .gpu = 0, .after = {2}},
                                         {.kind = Kind::attention, .gpu = 1, .after = {1}}});
  const std::vector<double> durations{10, 4, 5, 3, 2, 1};
  std::size_t next = 0;
  const std::vector<OperationTime> times =
      simulate_schedule(schedule, [&](const Operation&) { return durations[next++]; });
  const std::vector<double> begins{0, 0, 10, 10, 15, 13};
  for (std::size_t i = 0; i < begins.size(); ++i) {
    EXPECT_EQ(times[i].begin_ns, begins[i]) << i;
    EXPECT_EQ(times[i].end_ns, begins[i] + durations[i]) << i;
  }
}

TEST(LinkBytes, CopiesWithinAGpuUseNoLink) {
  Transfer copy;
  copy.to_gpu = 1;
  copy.rows = 3;
  copy.row_bytes = 5;
  const Operation sent{.kind = Kind::transfer, .gpu = 0, .transfer = copy};
  const Operation kept{.kind = Kind::transfer, .gpu = 1, .transfer = copy};
  EXPECT_EQ(sent.link_bytes(), 15);
  EXPECT_EQ(kept.link_bytes(), 0);
  EXPECT_EQ(schedule_of({sent, kept, sent}).link_bytes(), 30);
  const LinkRate link{.bytes_per_second = 2e9, .latency_ns = 7};
  EXPECT_EQ(link.copy_ns(100), 57);
  EXPECT_EQ(LinkRate{}.copy_ns(0), 0);
}

TEST(KernelModel, SumsCountRunsWithoutSetup) {
  AttentionModel model;
  model.kernels.resize(3);
  model.kernels[0].setup = true;
  model.kernels[1].runs = 3;
  const std::vector<std::pair<double, Traffic>> each{{1e6, {1000, 1000}}, {10, {100, 1}}, {5, {20, 2}}};
  for (std::size_t i = 0; i < each.size(); ++i)
    std::tie(model.kernels[i].work.tensor_flops, model.kernels[i].traffic) = each[i];
  EXPECT_EQ(model.traffic(), (Traffic{320, 5}));
  EXPECT_EQ(model.executed_flops(), 35);
  model.can_predict_time = false;
  EXPECT_EQ(model.executed_flops(), std::nullopt) << "the kernels state no work";
  EXPECT_TRUE(has_several_launches(model.kernels));
  model.kernels.pop_back();
  EXPECT_TRUE(has_several_launches(model.kernels)) << "three runs";
  model.kernels[1].runs = 2;
  EXPECT_TRUE(has_several_launches(model.kernels));
  model.kernels[1].runs = 1;
  EXPECT_FALSE(has_several_launches(model.kernels)) << "setup is not measured";
}

TEST(KernelModel, PersistentGridsLaunchNoMoreBlocksThanNeeded) {
  KernelModel kernel;
  kernel.grid = {10, 2, 3};
  EXPECT_EQ(kernel.launched_blocks(), 60);
  kernel.grid = {10, 1, 1};
  for (const auto& [persistent, launched] : {std::pair(9U, 9), {10U, 10}, {11U, 10}}) {
    kernel.persistent_blocks = persistent;
    EXPECT_EQ(kernel.launched_blocks(), launched);
    EXPECT_EQ(kernel.blocks(), 10);
  }
}

TEST(ScheduledCycles, NoBlockIsLostInLongOrders) {
  const auto cycles = [](const BlockRun& block, double /*at_once*/) {
    return block.steps + 10 * block.rounds + 100 * block.mask_reads;
  };
  // 21, then 4000, then 14 blocks; the first 1987 are merged, which ends within a repetition.
  const BlockOrder order{
      {.times = 3, .runs = {{.blocks = 5, .steps = 1, .rounds = 2}, {.blocks = 2, .steps = 4, .mask_reads = 1}}},
      {.times = 1000, .runs = {{.blocks = 1, .steps = 3, .rounds = 1}, {.blocks = 3, .steps = 2, .mask_reads = 1}}},
      {.times = 2, .runs = {{.blocks = 7, .steps = 1, .rounds = 1, .mask_reads = 1}}}};
  const double all = 3 * (5 * 21 + 2 * 104) + 1000 * (13 + 3 * 102) + 2 * 7 * 111;
  const ScheduledCycles one_slot = scheduled_cycles(order, 1, 1, cycles);
  EXPECT_NEAR(one_slot.all, all, 1);
  EXPECT_NEAR(one_slot.balanced, all, 1);
  EXPECT_NEAR(scheduled_cycles(order, 2, 4, cycles).balanced, all / 8, 1);
}

// Four slots on two SMs become free at once: the next two blocks take one on each SM.
TEST(ScheduledCycles, EqualEndsAreTakenInSlotOrder) {
  const auto shared = [](const BlockRun& block, double at_once) { return block.steps * (1 + at_once) / 2; };
  const BlockOrder order{{.times = 1, .runs = {{.blocks = 4, .steps = 4}, {.blocks = 2, .steps = 6}}}};
  EXPECT_EQ(scheduled_cycles(order, 2, 2, shared).all, 6 + 6);
}

}  // namespace
}  // namespace attnscope
