// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/metrics.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(Combine, RuleFollowsUnitAndRollup) {
  EXPECT_EQ(combine_rule("dram__bytes_read.sum", "byte"), Combine::sum);
  EXPECT_EQ(combine_rule("sm__cycles_elapsed.max", "cycle"), Combine::sum);
  EXPECT_EQ(combine_rule("smsp__inst_executed.sum", "instruction"), Combine::sum);
  EXPECT_EQ(combine_rule("sm__warps_active.avg.pct_of_peak_sustained_active", "percent"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("dram__bytes_read.sum.per_second", "byte/second"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("lts__t_sector_hit_rate.pct", "percent"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("smsp__inst_executed.max", "instruction"), Combine::maximum);
  EXPECT_EQ(combine_rule("smsp__inst_executed.min", "instruction"), Combine::minimum);
}

TEST(Combine, PerSmAveragesOfCountsAreSummed) {
  EXPECT_EQ(combine_rule("sm__cycles_active.avg", "cycle"), Combine::sum);
  EXPECT_EQ(combine_rule("sm__cycles_active.avg", "1"), Combine::sum) << "CSV files have no units";
  EXPECT_EQ(combine_rule("smsp__inst_executed.avg", "instruction"), Combine::sum);
  EXPECT_EQ(combine_rule("smsp__average_warp_latency.avg", "1"), Combine::weighted_mean);
}

TEST(Combine, MetricKeysUseTheirCountersRule) {
  EXPECT_EQ(combine_rule("dram_writeback_bytes", "byte"), Combine::sum);
  EXPECT_EQ(combine_rule("achieved_occupancy_pct", "percent"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("sm_cycles", "cycle"), Combine::sum);
  EXPECT_EQ(combine_rule("registers", "register"), Combine::maximum);
  EXPECT_EQ(combine_rule("shared_bytes", "byte"), Combine::maximum);
  EXPECT_EQ(combine_rule("local_bytes", "byte"), Combine::maximum);
  // The unit alone and the name alone decide, too.
  EXPECT_EQ(combine_rule("unknown", "percent"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.sum", "percent"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.sum", "byte/second"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.sum.pct", ""), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.sum.per_second", ""), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.max", "ns"), Combine::sum);
  EXPECT_EQ(combine_rule("unknown.max", "byte"), Combine::sum);
  EXPECT_EQ(combine_rule("unknown", "instruction"), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.avg", ""), Combine::weighted_mean);
  EXPECT_EQ(combine_rule("unknown.avg", "instruction"), Combine::sum);
}

TEST(Combine, Values) {
  const double values[] = {10, 40};
  const double weights[] = {3, 1};
  EXPECT_EQ(combine(Combine::sum, values, weights), 50);
  EXPECT_EQ(combine(Combine::maximum, values, weights), 40);
  EXPECT_EQ(combine(Combine::minimum, values, weights), 10);
  EXPECT_EQ(combine(Combine::weighted_mean, values, weights), 17.5);
  const double three[] = {10, 40, 20};
  const double three_weights[] = {1, 1, 2};
  EXPECT_EQ(combine(Combine::sum, three, three_weights), 70);
  EXPECT_EQ(combine(Combine::weighted_mean, three, three_weights), 22.5);
  const double none[] = {0, 0};
  EXPECT_EQ(combine(Combine::weighted_mean, values, none), 25);
}

}  // namespace
}  // namespace attnscope
