// SPDX-License-Identifier: Apache-2.0
// Several GPUs that share a problem, with a fake driver that computes on the host. Outputs are checked against the
// float64 reference of the whole sequence, as on real GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <filesystem>
#include <string>

#include "fake_gpu.h"
#include "kernels/registry.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/metrics/metrics.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::IsReason;
using ::testing::ElementsAre;

class MultiGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(cache_);
    for (const char* variable : loaded) setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    setenv("ATTNSCOPE_CACHE_DIR", cache_.c_str(), 1);
  }
  void TearDown() override {
    for (const char* variable : loaded) unsetenv(variable);
    unsetenv("ATTNSCOPE_CACHE_DIR");
    unsetenv("ATTNSCOPE_FAKE_GPU");
    std::filesystem::remove_all(cache_);
  }

  static PointSpec of(const char* algorithm, int gpus, GpuOrder order = GpuOrder::contiguous,
                      const Mask& mask = Mask::causal) {
    PointSpec spec{.algorithm = algorithm, .problem = {}, .tile = {.br = 64, .bc = 64}};
    spec.problem = {.mask = mask,
                    .batch = 2,
                    .heads_q = 4 * gpus,
                    .heads_kv = 2 * gpus,
                    .n_q = 24 * gpus,
                    .n_k = 24 * gpus,
                    .d = 64};
    spec.problem.gpus = gpus;
    spec.problem.gpu_order = order;
    return spec;
  }
  PointRecord measured(const std::string& faults, const PointSpec& spec) {
    setenv("ATTNSCOPE_FAKE_GPU", ("compute-output," + faults).c_str(), 1);
    auto device = open_gpu_device();
    if (!device) {
      ADD_FAILURE() << device.error().message();
      return {};
    }
    MeasureOptions options;
    options.min_samples = 3;
    options.max_samples = 4;
    options.timeout = std::chrono::milliseconds(20'000);
    PointRecord record = (*device)->measure(spec, options, cancel_);
    usable_ = (*device)->usable();
    return record;
  }
  static double all(const PointRecord& record, std::string_view name) {
    const KernelRecord* found = record.kernel("all");
    return found != nullptr ? found->metric(name).value_or(-1) : -2;
  }

  static constexpr const char* loaded[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                           "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  std::filesystem::path cache_ = std::filesystem::path(::testing::TempDir()) / "fake-sharing-gpus";
  CancelToken cancel_;
  bool usable_ = true;
};

TEST_F(MultiGpuTest, AllSchemesMatchReference) {
  for (const int gpus : {2, 3}) {
    for (const Mask& mask : {Mask::none, Mask::causal}) {
      for (const GpuOrder order : gpu_orders) {
        for (const char* const algorithm : {"ring", "allgather", "ulysses"}) {
          const PointSpec spec = of(algorithm, gpus, order, mask);
          SCOPED_TRACE(describe(spec));
          const PointRecord record = measured("gpus=3", spec);
          if (record.disposition == Disposition::infeasible) {
            EXPECT_NE(order, GpuOrder::contiguous);
            continue;
          }
          ASSERT_EQ(record.disposition, Disposition::ok) << text(record.reason);
          ASSERT_TRUE(record.max_abs_error && record.error_bound);
          EXPECT_LE(*record.max_abs_error, *record.error_bound);
          EXPECT_EQ(std::ssize(record.others), gpus - 1);
          EXPECT_EQ(all(record, metric_key::link_bytes), all(record, metric_key::model_link_bytes));
          EXPECT_GT(all(record, metric_key::gpu_attention_ns), 0);
          const KernelRecord& whole = *record.kernel("all");
          ASSERT_GE(whole.samples_ns.size(), 3U);
        }
      }
    }
  }
}

TEST_F(MultiGpuTest, RecordsGpuUuids) {
  const PointRecord record = measured("gpus=3", of("ring", 3));
  EXPECT_THAT(record.others,
              ElementsAre("GPU-00010203-0405-0607-0809-0a0b0c0d0e10", "GPU-00010203-0405-0607-0809-0a0b0c0d0e11"));
  // Three kinds of attention launches and one combine launch per GPU, in addition to their sum.
  EXPECT_NE(record.kernel("diagonal"), nullptr);
  EXPECT_NE(record.kernel("combine 2+0"), nullptr);
}

TEST_F(MultiGpuTest, CountsAreScaledToEqualLaunches) {
  const PointRecord record = measured("gpus=2,by-grid", of("ulysses", 2));
  ASSERT_EQ(record.disposition, Disposition::ok) << text(record.reason);
  const double one = record.kernel("attention")->metric(metric_key::l2_to_sm_bytes).value_or(-1);
  EXPECT_GT(one, 0);
  EXPECT_EQ(all(record, metric_key::l2_to_sm_bytes), 2 * one);
}

TEST_F(MultiGpuTest, DetectsWrongCopy) {
  // Kernels do not compute here, so only poison is gathered.
  setenv("ATTNSCOPE_FAKE_GPU", "gpus=2,gives-up=1", 1);
  const PointRecord record = measured("gpus=2,gives-up=1", of("ring", 2));
  EXPECT_EQ(record.disposition, Disposition::incorrect);
}

TEST_F(MultiGpuTest, ReportsWhyGpusAreUnavailable) {
  const PointRecord few = measured("gpus=2", of("ring", 3));
  EXPECT_EQ(few.disposition, Disposition::infeasible);
  EXPECT_THAT(few.reason, IsReason("point.too_few_gpus_of_kind", "3 2"));
  const PointRecord kinds = measured("gpus=3,other-kind=2", of("ring", 3));
  EXPECT_EQ(kinds.disposition, Disposition::infeasible);
  EXPECT_THAT(kinds.reason, IsReason("point.too_few_gpus_of_kind", "3 2 Fake GPU"));
  const PointRecord apart = measured("gpus=2,no-peers", of("ring", 2));
  EXPECT_EQ(apart.disposition, Disposition::infeasible);
  EXPECT_EQ(apart.reason.id, "point.no_peer_access");
  const PointRecord memory = measured("gpus=2,oom-from=20", of("ring", 2));
  EXPECT_EQ(memory.disposition, Disposition::out_of_memory) << text(memory.reason);
}

TEST_F(MultiGpuTest, LostGpuEndsOnlyThePoint) {
  const PointRecord record = measured("gpus=2,lose-copy=14", of("ring", 2));
  EXPECT_EQ(record.disposition, Disposition::crashed);
  EXPECT_EQ(record.reason.id, "point.gpu_gone");
  EXPECT_FALSE(usable_);
}

}  // namespace
}  // namespace attnscope
