// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::IsReason;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::Optional;

/// Record of one round: read, write and write-back bytes, and three samples.
PointRecord one_round(double read, double write, double later, double ns) {
  PointRecord point;
  KernelRecord& all = point.kernels.emplace_back();
  all.metrics = {{"dram_read_bytes", read, "byte", Provenance::measured},
                 {"dram_write_bytes", write, "byte", Provenance::measured},
                 {"dram_writeback_bytes", later, "byte", Provenance::measured},
                 {"model_compulsory_bytes", 50, "byte", Provenance::modeled}};
  all.samples_ns = {ns, ns + 2, ns + 1};
  all.occupancy_limiter = "registers";
  point.clocks = ClockReading{.sm_clock_hz = ns * 1e6, .throttle_reasons = 1, .throttled = false};
  point.wall_seconds = 0.5;
  point.max_abs_error = 0.25;
  return point;
}

PointRecord three_rounds() {
  PointRecord point = one_round(100, 10, 5, 1000);
  PointRecord second = one_round(104, 30, 5, 3000);
  second.clocks->throttle_reasons = 4;
  second.clocks->throttled = true;
  second.max_abs_error.reset();
  add_round(point, 1, second);
  add_round(point, 2, one_round(102, 20, 1, 2000));
  return point;
}

TEST(Rounds, APointIsTheMedianOverRounds) {
  const PointRecord point = three_rounds();
  const KernelRecord& all = point.kernels.at(0);
  EXPECT_THAT(all.metric("dram_read_bytes"), Optional(102));
  EXPECT_THAT(all.metric("dram_write_bytes"), Optional(20));
  EXPECT_THAT(all.metric("model_compulsory_bytes"), Optional(50));
  EXPECT_THAT(all.samples_ns, ElementsAre(1000, 1002, 1001, 3000, 3002, 3001, 2000, 2002, 2001));
  EXPECT_EQ(all.occupancy_limiter, "registers");
  EXPECT_EQ(point.wall_seconds, 1.5);
  EXPECT_THAT(point.max_abs_error, Optional(0.25)) << "verified once";
  ASSERT_TRUE(point.clocks);
  EXPECT_EQ(point.clocks->sm_clock_hz, 2e9);
  EXPECT_EQ(point.clocks->throttle_reasons, 5U);
  EXPECT_TRUE(point.clocks->throttled);
  EXPECT_EQ(point.disposition, Disposition::ok);
  ASSERT_EQ(point.rounds.size(), 3U);
  EXPECT_EQ(point.rounds[1].round, 1);
  EXPECT_THAT(point.rounds[1].kernels.at(0).metric("dram_read_bytes"), Optional(104));
  EXPECT_EQ(point.rounds[1].kernels.at(0).metric("model_compulsory_bytes"), std::nullopt) << "value of the first round";
}

TEST(Rounds, MissingReadingsAreIgnored) {
  PointRecord point = one_round(100, 10, 5, 1000);
  PointRecord mute = point;
  PointRecord hot = point;
  point.clocks->power_w = 300;
  hot.clocks->power_w = 500;
  add_round(point, 1, mute);
  add_round(point, 2, hot);
  EXPECT_EQ(point.clocks->power_w, 400);
  EXPECT_EQ(point.clocks->temperature_c, 0) << "no reading";
}

TEST(Rounds, EachRoundHasStoredAndComputedValues) {
  const PointRecord point = three_rounds();
  // 100 + 10 + 5, 104 + 30 + 5, 102 + 20 + 1.
  EXPECT_THAT(round_values("dram_settled_bytes", point), ElementsAre(Optional(115), Optional(139), Optional(123)));
  EXPECT_THAT(round_values("time_median_ns", point), ElementsAre(Optional(1001), Optional(3001), Optional(2001)));
  EXPECT_THAT(round_values("dram_over_compulsory", point),
              ElementsAre(Optional(DoubleEq(2.3)), Optional(DoubleEq(2.78)), Optional(DoubleEq(2.46))));
  EXPECT_THAT(round_values("l2_to_sm_bytes", point), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  // The median of the sums, not the sum of the medians (102 + 20 + 5).
  EXPECT_EQ(evaluate("dram_settled_bytes", point)->value, 123);
  EXPECT_EQ(dram_traffic(point)->value, 123);
  EXPECT_EQ(evaluate("time_median_ns", point)->value, 2001);
}

TEST(Rounds, QuartilesOfCountsAndTimes) {
  const PointRecord point = three_rounds();
  const auto settled = quartiles("dram_settled_bytes", point);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->q1, 119);
  EXPECT_EQ(settled->q3, 131);
  const auto read = quartiles("dram_read_bytes", point);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->q1, 101);
  EXPECT_EQ(read->q3, 103);
  const auto time = quartiles("time_median_ns", point);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->q1, 1002);
  EXPECT_EQ(time->q3, 3000);
  EXPECT_FALSE(quartiles("model_compulsory_bytes", point)) << "modeled values have no spread";
  EXPECT_FALSE(quartiles("dram_read_bytes", one_round(1, 2, 3, 4))) << "counted once";
  EXPECT_FALSE(quartiles("time_spread", point));
}

TEST(Rounds, OneRoundEqualsThePoint) {
  const PointRecord point = one_round(100, 10, 5, 1000);
  EXPECT_THAT(round_values("dram_settled_bytes", point), ElementsAre(Optional(115)));
  int visits = 0;
  for_each_round(point,
                 [&](int round, std::span<const KernelRecord> kernels, const std::optional<ClockReading>& clocks) {
                   ++visits;
                   EXPECT_EQ(round, 0);
                   EXPECT_EQ(kernels.size(), 1U);
                   EXPECT_EQ(clocks, point.clocks);
                 });
  EXPECT_EQ(visits, 1);
  PointRecord read = point;
  read.rounds = {{.round = 0, .kernels = point.kernels, .clocks = point.clocks}};
  summarize_rounds(read);
  EXPECT_TRUE(read.rounds.empty());
  EXPECT_EQ(read.kernels.at(0).metrics, point.kernels.at(0).metrics);
  read.rounds = {{.round = 1, .kernels = point.kernels, .clocks = point.clocks}};
  summarize_rounds(read);
  EXPECT_EQ(read.rounds.size(), 1U) << "only the second round is present";
}

TEST(Rounds, AFailedRoundSetsTheDispositionAndKeepsValues) {
  PointRecord point = one_round(100, 10, 5, 1000);
  add_round(point, 1, one_round(104, 30, 5, 3000));
  PointRecord crashed;
  crashed.disposition = Disposition::crashed;
  crashed.reason = make_reason("point.timing_crashed", "A kernel crashed during timing.");
  crashed.kernels.emplace_back().samples_ns = {7};
  add_round(point, 2, crashed);
  EXPECT_EQ(point.disposition, Disposition::crashed);
  EXPECT_THAT(point.reason, IsReason("point.in_round", "3 " + text(crashed.reason)));
  ASSERT_EQ(point.rounds.size(), 2U);
  EXPECT_THAT(round_values("dram_read_bytes", point), ElementsAre(Optional(100), Optional(104)));
  EXPECT_FALSE(can_remeasure(point.disposition));
}

TEST(Rounds, ARoundWithoutCountersKeepsItsTimes) {
  PointRecord point = one_round(100, 10, 5, 1000);
  PointRecord second = one_round(0, 0, 0, 3000);
  second.kernels.at(0).metrics.clear();
  second.disposition = Disposition::no_counters;
  second.reason = make_reason("point.not_checked", "The device did not check the output.");
  add_round(point, 1, second);
  add_round(point, 2, second);
  EXPECT_EQ(point.disposition, Disposition::no_counters);
  EXPECT_THAT(point.reason, IsReason("point.in_round", "2 " + text(second.reason))) << "reason of the first such round";
  EXPECT_TRUE(can_remeasure(point.disposition));
  EXPECT_THAT(round_values("dram_read_bytes", point), ElementsAre(Optional(100), std::nullopt, std::nullopt));
  EXPECT_THAT(round_values("time_median_ns", point), ElementsAre(Optional(1001), Optional(3001), Optional(3001)));
  EXPECT_FALSE(quartiles("dram_read_bytes", point)) << "one count has no quartiles";
}

TEST(Rounds, KernelsMissingInARoundKeepOtherRounds) {
  PointRecord point = one_round(100, 10, 5, 1000);
  PointRecord second = one_round(104, 30, 5, 3000);
  KernelRecord& pv = second.kernels.emplace_back();
  pv.kernel = "pv";
  pv.samples_ns = {9};
  add_round(point, 1, second);
  ASSERT_EQ(point.kernels.size(), 2U);
  EXPECT_THAT(round_values("time_median_ns", point, "pv"), ElementsAre(std::nullopt, Optional(9)));
  EXPECT_THAT(round_values("time_median_ns", point, "none"), ElementsAre(std::nullopt, std::nullopt));
}

/// Adds a kernel with one count, in two units, and one sample.
void add_kernel(PointRecord& point, const char* name, double count) {
  KernelRecord& kernel = point.kernels.emplace_back();
  kernel.kernel = name;
  kernel.metrics = {{"sectors", count, "sector", Provenance::measured},
                    {"sectors", 32 * count, "byte", Provenance::measured}};
  kernel.samples_ns = {count};
}

TEST(Rounds, EveryKernelUnitAndReadingOfEveryRoundIsKept) {
  PointRecord point = one_round(100, 10, 5, 1000);
  point.clocks->throttle_reasons = 2;
  PointRecord second = one_round(104, 30, 5, 3000);
  second.clocks->throttle_reasons = 4;
  PointRecord third = one_round(102, 20, 1, 2000);
  third.clocks->throttle_reasons = 8;
  add_kernel(point, "qk", 1);
  for (PointRecord* later : {&second, &third}) {
    const double count = later == &second ? 5 : 3;
    add_kernel(*later, "qk", count);
    add_kernel(*later, "pv", 10 * count);  // not in the first round
    add_kernel(*later, "dq", 100 * count);
  }
  add_round(point, 1, second);
  add_round(point, 2, third);
  EXPECT_EQ(point.clocks->throttle_reasons, 14U);
  ASSERT_EQ(point.kernels.size(), 4U);
  const std::tuple<const char*, double, std::vector<double>> kernels[] = {
      {"qk", 3, {1, 5, 3}}, {"pv", 40, {50, 30}}, {"dq", 400, {500, 300}}};
  for (const auto& [name, count, samples] : kernels) {
    const KernelRecord* kernel = point.kernel(name);
    ASSERT_NE(kernel, nullptr) << name;
    EXPECT_EQ(kernel->samples_ns, samples) << name;
    ASSERT_EQ(kernel->metrics.size(), 2U) << name;
    EXPECT_EQ(kernel->metrics[0].value, count) << name;
    EXPECT_EQ(kernel->metrics[1].value, 32 * count) << name << " in bytes";
  }
  std::vector<double> clocks;
  for_each_round(point,
                 [&](int round, std::span<const KernelRecord> in_round, const std::optional<ClockReading>& read) {
                   EXPECT_EQ(in_round.size(), 4U) << round;
                   clocks.push_back(read->sm_clock_hz);
                 });
  EXPECT_THAT(clocks, ElementsAre(1e9, 3e9, 2e9));
}

TEST(Rounds, TheFirstFailureIsKept) {
  PointRecord point = one_round(100, 10, 5, 1000);
  for (const auto& [round, disposition] : {std::pair(1, Disposition::crashed), std::pair(2, Disposition::timeout)}) {
    PointRecord failed;
    failed.disposition = disposition;
    failed.reason = make_reason("point.timing_crashed", "A kernel crashed during timing.");
    add_round(point, round, failed);
  }
  EXPECT_EQ(point.disposition, Disposition::crashed);
  EXPECT_THAT(point.reason, IsReason("point.in_round", "2"));
}

TEST(Rounds, ReasonsOfSkippedChecksAreKept) {
  PointRecord point = one_round(100, 10, 5, 1000);
  PointRecord unguarded = one_round(100, 10, 5, 1000);
  unguarded.reason =
      make_reason("point.no_room_for_guard_pages",
                  "Checked without guard pages for lack of device memory: stray reads may be undetected.");
  add_round(point, 1, unguarded);
  add_round(point, 2, one_round(100, 10, 5, 1000));
  EXPECT_EQ(point.disposition, Disposition::ok);
  EXPECT_EQ(point.reason, unguarded.reason);
}

}  // namespace
}  // namespace attnscope
