// SPDX-License-Identifier: Apache-2.0
// collect --utilization on the fake GPU (tests/gpu/fake), where a unit's utilization is the place of its counter in a
// list, so that the last unit is the busiest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_driver.h"
#include "profiler/predict/unit_utilization.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CollectUtilization : public CommandTest {
 protected:
  Outcome collect(const Words& more, const std::string& faults = "") {
    Process::Options options = on_fake_gpu(faults);
    const Words all = Words{"collect", "--no-verify",  "--quiet", "-a", "heads=1", "-a",
                            "d=64",    "--algorithms", "naive",   "-o", file_} +
                      more;
    return run(folder_, all, options);
  }
};

TEST_F(CollectUtilization, names_the_busiest_unit_and_the_longest_stalls_of_each_kernel) {
  EXPECT_THAT(expect_exit(0, collect({"--device", "gpu", "--utilization", "-a", "N=64"})).err,
              Not(HasSubstr("--utilization")));
  ASSERT_EQ(stored().size(), 1U);
  const PointRecord record = stored()[0].record;
  ASSERT_GT(record.kernels.size(), 2U) << "several kernels, and their sum";
  for (const KernelRecord& kernel : record.kernels) {
    const auto bound = analysis::busiest_unit(record, kernel.kernel);
    ASSERT_TRUE(bound) << kernel.kernel;
    EXPECT_EQ(bound->metric->key, "dram_utilization_pct");
    const auto stalls = analysis::top_stalls(record, kernel.kernel);
    ASSERT_EQ(stalls.size(), 3U);
    EXPECT_EQ(stalls[0].metric->key, "stall_wait");
    EXPECT_EQ(stalls[2].metric->key, "stall_sleeping");
  }
  for (const Metric& metric : metrics_table()) {
    if (metric.why == CounterGroup::none) continue;
    EXPECT_TRUE(record.kernel("all")->metric(metric.key)) << metric.key << " is kept by its key";
    EXPECT_FALSE(record.kernel("all")->metric(metric.counter)) << "stored once, not also by counter name";
  }
  EXPECT_THAT(run(folder_, {"info", file_}).out, HasSubstr("; busiest unit (points): DRAM (1)"));
  const Outcome csv = run(folder_, {"export", file_, "--long"});
  EXPECT_THAT(csv.out, HasSubstr(",xu_utilization_pct,"));
  EXPECT_THAT(csv.out, HasSubstr(",stall_long_scoreboard,"));
  EXPECT_THAT(csv.out, HasSubstr(",shared_conflict_share,"));
}

TEST_F(CollectUtilization, utilization_is_relative_to_kernel_time) {
  ASSERT_EQ(collect({"--device", "gpu", "--utilization", "-a", "N=64"}).exit_code, 0);
  const PointRecord record = stored()[0].record;
  const KernelRecord* kernel = record.kernel("qk");
  ASSERT_NE(kernel, nullptr);
  const double ns = summarize(kernel->samples_ns)->median;
  ASSERT_GT(ns, 0);
  // The kernel takes half of the cycles of the counted range, which takes one second.
  const auto xu = evaluate("xu_utilization_pct", record, "qk");
  EXPECT_NEAR(xu->value, 2 * 8, 1e-9);
  EXPECT_EQ(xu->provenance, Provenance::derived);
  EXPECT_NEAR(evaluate("dram_utilization_pct", record, "qk")->value, 1e9 / ns * 16, 1e-6 * 1e9 / ns);
  EXPECT_NEAR(evaluate("l2_utilization_pct", record, "qk")->value, 1e9 / ns * 14, 1e-6 * 1e9 / ns);
  EXPECT_NEAR(evaluate("stall_wait", record, "qk")->value, 3.4, 1e-9) << "a ratio, not a share of the peak";
  EXPECT_NEAR(evaluate("xu_utilization_pct", record)->value, 2 * 8, 1e-9) << "mean over the kernels";
}

TEST_F(CollectUtilization, utilization_falls_back_to_counted_range) {
  const Outcome outcome = collect({"--device", "gpu", "--utilization", "-a", "N=64"}, "lacks=sm__cycles_active");
  EXPECT_THAT(outcome.err, HasSubstr(": sm_active_cycles\n"));
  const PointRecord record = stored()[0].record;
  EXPECT_NEAR(evaluate("xu_utilization_pct", record, "qk")->value, 8, 1e-9);
  EXPECT_EQ(evaluate("xu_utilization_pct", record, "qk")->provenance, Provenance::measured);
}

TEST_F(CollectUtilization, is_not_counted_by_default) {
  ASSERT_EQ(collect({"--device", "gpu", "-a", "N=64"}).exit_code, 0);
  EXPECT_FALSE(analysis::busiest_unit(stored()[0].record));
  EXPECT_THAT(analysis::top_stalls(stored()[0].record), IsEmpty());
  EXPECT_THAT(run(folder_, {"info", file_}).out, Not(HasSubstr("busiest")));
}

TEST_F(CollectUtilization, warns_of_unsupported_metrics) {
  EXPECT_THAT(expect_exit(0, collect({"--device", "gpu", "--utilization", "-a", "N=64"}, "lacks=dram__throughput")).err,
              HasSubstr(": dram_utilization_pct\n"));
  const PointRecord record = stored()[0].record;
  EXPECT_FALSE(record.kernel("all")->metric("dram_utilization_pct"));
  EXPECT_EQ(analysis::busiest_unit(record)->metric->key, "shared_utilization_pct");
}

TEST_F(CollectUtilization, is_kept_when_resumed) {
  ASSERT_EQ(
      collect({"--device", "gpu", "--utilization", "-a", "N=[16,32,48]"}, "interrupt=attn_naive_softmax").exit_code, 5);
  const std::size_t before = stored().size();
  expect_exit(0, collect({"--device", "gpu", "--utilization", "-a", "N=[16,32,48]", "--resume"}));
  const RunStore store = RunStore::open(file_, RunStore::Mode::read_only);
  EXPECT_EQ(store.runs().size(), 1U) << before;
}

TEST_F(CollectUtilization, requires_a_real_gpu) {
  EXPECT_THAT(expect_error(3, collect({"--device", "simulated", "--utilization", "-a", "N=64"})).err,
              HasSubstr("--utilization requires a GPU"));
  expect_exit(2, collect({"--device", "gpu", "--utilization", "--no-counters", "-a", "N=64"}));
}

}  // namespace
}  // namespace attnscope::testing
