// SPDX-License-Identifier: Apache-2.0
// Metric names and pass counts with CUPTI's host library, which needs no GPU.
#include "profiler/measure/gpu/driver/range_profiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "profiler/measure/gpu/counting.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::gpu {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CounterHostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto cupti = CuptiApi::load();
    if (!cupti) GTEST_SKIP() << cupti.error();
    cupti_ = *cupti;
  }
  [[nodiscard]] CounterHost host(const char* chip) const { return {*cupti_, chip}; }
  [[nodiscard]] static std::vector<std::string> defaults(int major) {
    std::vector<std::string> names;
    for (const CounterMetric& counter : default_counters(major)) names.push_back(counter.counter);
    return names;
  }

 private:
  std::optional<CuptiApi> cupti_;
};

TEST_F(CounterHostTest, DefaultCountersExistOnEveryChip) {
  const struct {
    const char* chip;
    int major;
  } chips[] = {{"GA100", 8}, {"AD102", 8}, {"GH100", 9}, {"GB202", 12}};
  for (const auto& [chip, major] : chips) {
    for (const std::string& name : defaults(major)) EXPECT_TRUE(host(chip).has_metric(name)) << chip << " " << name;
  }
}

TEST_F(CounterHostTest, WhyMetricsExistOnEveryChip) {
  std::vector<std::string> all = defaults(9);
  for (const Metric& metric : metrics_table()) {
    if (metric.why == CounterGroup::none || metric.counter.empty()) continue;
    const std::string counter(metric.counter);
    EXPECT_TRUE(host("GH100").has_metric(counter)) << counter;
    for (const char* chip : {"GA100", "AD102", "GB202"}) {
      // Stalls for wgmma and constants do not exist on every chip; unit utilizations do.
      EXPECT_TRUE(metric.why != CounterGroup::use || host(chip).has_metric(counter)) << chip << " " << counter;
    }
    all.push_back(counter);
  }
  const CounterConfig config = host("GH100").configure(all);
  EXPECT_GT(config.passes(), 2U);
  EXPECT_LE(config.passes(), 10U);
}

TEST_F(CounterHostTest, DefaultCountersNeedFewPasses) {
  const CounterConfig config = host("GH100").configure(defaults(9));
  EXPECT_GE(config.passes(), 1U);
  EXPECT_LE(config.passes(), 3U);
  EXPECT_THAT(config.image(), Not(IsEmpty()));
  EXPECT_EQ(config.metrics(), defaults(9));
}

TEST_F(CounterHostTest, RejectsUnknownNames) {
  EXPECT_FALSE(host("GH100").has_metric("dram__byte_read.sum"));
  EXPECT_FALSE(host("GH100").has_metric("dram__bytes_read"));
  EXPECT_FALSE(host("GH100").has_metric("dram__bytes_read.total"));
  EXPECT_FALSE(host("GH100").has_metric("dram__bytes_op_read.sum"));
  EXPECT_THROW((void)host("GH100").configure({"dram__bytes_read.sum", "nothing__at_all.sum"}), CuptiError);
  EXPECT_THROW((void)host("XX999").configure({"dram__bytes_read.sum"}), CuptiError);
}

TEST_F(CounterHostTest, SuggestsSimilarNames) {
  EXPECT_THAT(host("GH100").similar_names("dram__byte_read.sum"), Contains("dram__bytes_read.sum"));
  EXPECT_THAT(host("GH100").similar_names("dram__bytes_read.smu"), Contains("dram__bytes_read.sum"));
  const auto without_rollup = host("GH100").similar_names("dram__bytes_read");
  EXPECT_EQ(without_rollup.size(), 3U);
  EXPECT_THAT(without_rollup, Each(StartsWith("dram__bytes_read.")));
  for (const std::string& name : without_rollup) EXPECT_TRUE(host("GH100").has_metric(name)) << name;
}

TEST_F(CounterHostTest, Units) {
  EXPECT_EQ(host("GH100").unit("dram__bytes_read.sum"), "byte");
  EXPECT_EQ(host("GH100").unit("sm__cycles_elapsed.max"), "cycle");
  EXPECT_EQ(host("GH100").unit("sm__warps_active.avg.pct_of_peak_sustained_active"), "percent");
  EXPECT_EQ(host("GH100").unit("no_such.metric"), "1");
}

}  // namespace
}  // namespace attnscope::gpu
