// SPDX-License-Identifier: Apache-2.0
// Tests on a real GPU; skipped without one.
#include "profiler/measure/gpu/gpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"

namespace attnscope {
namespace {

class GpuDeviceTest : public ::testing::Test {
 protected:
  /// One device for all tests, since opening it takes a second.
  static void SetUpTestSuite() {
    auto opened = open_gpu_device();
    if (opened) {
      device_ = std::move(opened).value().release();
    } else {
      reason_ = text(opened.error().message());
    }
  }
  static void TearDownTestSuite() {
    delete device_;
    device_ = nullptr;
  }
  void SetUp() override {
    if (device_ == nullptr) GTEST_SKIP() << reason_;
  }
  static void skip_without_counters() {
    if (device_->counters().state != CounterState::available) GTEST_SKIP() << device_->counters().reason;
  }

  [[nodiscard]] static PointSpec point(const Algorithm& algorithm, const AttentionProblem& problem) {
    PointSpec spec{.algorithm = algorithm.name(), .problem = problem};
    spec.set_config(algorithm.default_config(problem, device_->info().limits));
    return spec;
  }
  [[nodiscard]] static double value(const PointRecord& record, std::string_view key, std::string_view kernel = "all") {
    const auto found = evaluate(key, record, kernel);
    return found ? found->value : -1;
  }

  /// Returns whether the problem is feasible.
  [[nodiscard]] static bool can(const Algorithm& algorithm, const AttentionProblem& problem) {
    const PointSpec spec = point(algorithm, problem);
    return !algorithm.refusal(problem, spec.tile, device_->info().limits);
  }
  /// Checks the result; returns false if the problem is infeasible.
  bool expect_correct(const Algorithm& algorithm, const AttentionProblem& problem) {
    if (!can(algorithm, problem)) return false;
    options_.counters = false;
    options_.min_samples = 1;
    options_.max_samples = 1;
    const PointRecord record = device_->measure(point(algorithm, problem), options_, cancel_);
    EXPECT_EQ(record.disposition, Disposition::ok) << describe(record.spec) << ": " << record.reason;
    return true;
  }
  /// Fails for each single-GPU algorithm without a checked case.
  static void expect_checked(const std::map<std::string_view, int>& judged) {
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      if (algorithm->facts().is_multi_gpu()) continue;  // needs several GPUs (tests/gpu/gpus.sh)
      const auto found = judged.find(algorithm->name());
      EXPECT_TRUE(found != judged.end() && found->second > 0) << algorithm->name() << " was never checked";
    }
  }

  static inline Device* device_ = nullptr;
  static inline std::string reason_;
  MeasureOptions options_;
  CancelToken cancel_;
};

TEST_F(GpuDeviceTest, ReportsLimits) {
  const DeviceLimits& limits = device_->info().limits;
  EXPECT_GE(limits.compute_major, 8);
  EXPECT_GT(limits.sm_count, 0);
  EXPECT_GE(limits.shared_bytes_per_block, 96 * 1024);
  EXPECT_GT(limits.l2_bytes, 1 << 20);
  EXPECT_GT(limits.dram_bytes_per_second, 1e11);
  EXPECT_EQ(device_->info().uuid.substr(0, 4), "GPU-");
  EXPECT_GT(device_->free_bytes(), 1 << 30);
}

TEST_F(GpuDeviceTest, EveryAlgorithmIsCorrect) {
  std::map<std::string_view, int> judged;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      for (const char* mask : {"full", "causal", "window:33:17", "lengths:0/200", "causal+blocks:128:butterfly"}) {
        for (const Pass pass : {Pass::fwd, Pass::bwd}) {
          for (const double dropout : {0.0, 0.1}) {
            AttentionProblem problem{.dtype = dtype,
                                     .pass = pass,
                                     .mask = parse_mask(mask).value(),
                                     .batch = 2,
                                     .heads_q = 4,
                                     .heads_kv = 2,
                                     .n_q = 239,
                                     .n_k = 301,
                                     .d = 64,
                                     .dropout = dropout};
            bool right = expect_correct(*algorithm, problem);
            problem.n_q = 7;  // for decoding algorithms
            if (!right) right = expect_correct(*algorithm, problem);
            judged[algorithm->name()] += right ? 1 : 0;
          }
        }
      }
    }
  }
  expect_checked(judged);
}

TEST_F(GpuDeviceTest, SampledGradientsAreCorrect) {
  // Too large for the host to check as a whole: keys are checked with the statistics of the helper kernel.
  int judged = 0;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const char* mask : {"full", "causal+lengths:ramp"}) {
      for (const bool deterministic : {false, true}) {
        const bool right = expect_correct(*algorithm, {.pass = Pass::fwd_bwd,
                                                       .mask = parse_mask(mask).value(),
                                                       .batch = 2,
                                                       .heads_q = 8,
                                                       .heads_kv = 4,
                                                       .n_q = 2000,
                                                       .n_k = 2100,
                                                       .d = 128,
                                                       .dropout = 0.2,
                                                       .deterministic = deterministic});
        judged += right ? 1 : 0;
      }
    }
  }
  EXPECT_GE(judged, 6);
}

TEST_F(GpuDeviceTest, BothRastersAreCorrect) {
  // Several query tiles and instances with ragged ends: a wrong block order would leave rows unwritten.
  const AttentionProblem problem{.batch = 3, .heads_q = 4, .heads_kv = 2, .n_q = 301, .n_k = 239, .d = 64};
  options_.counters = false;
  options_.min_samples = 1;
  options_.max_samples = 1;
  int judged = 0;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    if (!can(*algorithm, problem)) continue;
    for (const char* raster : {"", "heads_fastest"}) {
      PointSpec spec = point(*algorithm, problem);
      spec.knobs.set(knob::raster, raster);
      if (algorithm->refusal(problem, spec.config(), device_->info().limits)) continue;
      const PointRecord record = device_->measure(spec, options_, cancel_);
      EXPECT_EQ(record.disposition, Disposition::ok) << describe(spec) << ": " << record.reason;
      ++judged;
    }
  }
  EXPECT_GE(judged, 4);
}

TEST_F(GpuDeviceTest, CountersMatchTheModel) {
  skip_without_counters();
  int judged = 0;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    const AttentionProblem problem{.batch = 4, .heads_q = 33, .heads_kv = 33, .n_q = 1024, .n_k = 1024, .d = 64};
    if (!can(*algorithm, problem)) continue;
    const PointRecord record = device_->measure(point(*algorithm, problem), options_, cancel_);
    ASSERT_EQ(record.disposition, Disposition::ok) << describe(record.spec) << ": " << record.reason;
    const double tolerance = record.kernels.size() > 1 ? 0.03 : 0.01;
    EXPECT_NEAR(value(record, metric_key::l2_sm_over_model), 1, tolerance) << describe(record.spec);
    ++judged;
    EXPECT_GT(value(record, metric_key::dram_read_bytes), 0) << describe(record.spec);
    for (const KernelRecord& kernel : record.kernels) {
      const auto achieved = kernel.metric(metric_key::achieved_occupancy_pct);
      ASSERT_TRUE(achieved.has_value()) << describe(record.spec) << ' ' << kernel.kernel;
      EXPECT_GT(*achieved, 0) << describe(record.spec) << ' ' << kernel.kernel;
      if (const auto limit = kernel.metric(metric_key::theoretical_occupancy_pct)) {
        EXPECT_LE(*achieved, *limit + 1) << describe(record.spec) << ' ' << kernel.kernel;
      }
    }
  }
  EXPECT_GE(judged, 3);
}

TEST_F(GpuDeviceTest, CountersOfEveryKernelMatchItsModel) {
  skip_without_counters();
  // Whole query tiles: on some devices FA2's backward pass adds a ragged end's rows to dq_acc in whole tiles.
  const AttentionProblem square{.batch = 2, .heads_q = 32, .heads_kv = 32, .n_q = 2048, .n_k = 2048, .d = 64};
  std::vector<AttentionProblem> problems;
  for (const Pass pass : {Pass::fwd, Pass::bwd}) {
    for (const char* mask :
         {"full", "causal", "window:256:0", "lengths:ramp", "causal+lengths:700/2048", "blocks:128:butterfly"}) {
      for (const std::int64_t d : {64, 128}) {
        AttentionProblem p = square;
        p.pass = pass, p.mask = parse_mask(mask).value(), p.d = d;
        problems.push_back(p);
      }
    }
    AttentionProblem grouped = square;
    grouped.pass = pass, grouped.batch = 8, grouped.heads_q = 8, grouped.heads_kv = 2;
    problems.push_back(grouped);
  }
  AttentionProblem deterministic = square;
  deterministic.pass = Pass::bwd, deterministic.deterministic = true;
  problems.push_back(deterministic);
  for (const std::int64_t page : {0, 64}) {
    problems.push_back({.batch = 4, .heads_q = 8, .heads_kv = 2, .n_q = 1, .n_k = 65'536, .d = 128, .page = page});
  }

  constexpr double least_bytes = 64.0 * 1024 * 1024;
  std::size_t judged = 0;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const AttentionProblem& problem : problems) {
      if (!can(*algorithm, problem)) continue;
      const PointRecord record = device_->measure(point(*algorithm, problem), options_, cancel_);
      ASSERT_EQ(record.disposition, Disposition::ok) << describe(record.spec) << ": " << record.reason;
      const bool several = record.kernels.size() > 1;
      for (const KernelRecord& kernel : record.kernels) {
        const auto model = [&](std::string_view key) { return kernel.metric(key).value_or(0); };
        const double bytes = model(metric_key::model_l2_to_sm_bytes) + model(metric_key::model_sm_to_l2_bytes);
        if (bytes < least_bytes || (several && kernel.kernel == "all")) continue;
        // Backward kernels may add to dQ with atomics, or poll for their turn.
        const bool adds = problem.pass == Pass::bwd && (kernel.kernel == "all" || kernel.kernel == "bwd");
        const double tolerance = adds ? 0.02 : 0.01;
        EXPECT_NEAR(value(record, metric_key::l2_sm_over_model, kernel.kernel), 1, tolerance)
            << describe(record.spec) << ' ' << kernel.kernel;
        ++judged;
      }
    }
  }
  EXPECT_GT(judged, 40U);
}

TEST_F(GpuDeviceTest, ColdCacheReadsInputsFromDram) {
  skip_without_counters();
  // 16 MiB of inputs fit in L2: a warm run need not read them again, a cold run must.
  const AttentionProblem problem{.batch = 1, .heads_q = 32, .heads_kv = 32, .n_q = 1024, .n_k = 1024, .d = 64};
  const double inputs = 3.0 * 32 * 1024 * 64 * 2;
  PointSpec spec = point(*built_in_algorithms().find("fa2"), problem);
  const PointRecord cold = device_->measure(spec, options_, cancel_);
  ASSERT_EQ(cold.disposition, Disposition::ok) << cold.reason;
  EXPECT_GT(value(cold, metric_key::dram_read_bytes), 0.97 * inputs);
  EXPECT_LT(value(cold, metric_key::dram_read_bytes), 1.10 * inputs);
  spec.cache = CacheState::warm;
  const PointRecord warm = device_->measure(spec, options_, cancel_);
  ASSERT_EQ(warm.disposition, Disposition::ok) << warm.reason;
  EXPECT_LT(value(warm, metric_key::dram_read_bytes), 0.5 * inputs);
}

TEST_F(GpuDeviceTest, UnknownMetricNamesAreReported) {
  skip_without_counters();
  const std::vector<std::string> names{"lts__t_bytes.sum", "lts__t_byte.sum"};
  const auto unknown = device_->unknown_metrics(names);
  ASSERT_EQ(unknown.size(), 1U);
  EXPECT_EQ(unknown.front().name, "lts__t_byte.sum");
  EXPECT_THAT(unknown.front().near, testing::Contains("lts__t_bytes.sum"));
}

TEST_F(GpuDeviceTest, TooLargeForMemory) {
  AttentionProblem problem{.batch = 64, .heads_q = 64, .heads_kv = 64, .n_q = 32768, .n_k = 32768, .d = 128};
  const PointRecord record = device_->measure(point(*built_in_algorithms().find("naive"), problem), options_, cancel_);
  EXPECT_TRUE(record.disposition == Disposition::out_of_memory || record.disposition == Disposition::infeasible)
      << to_string(record.disposition) << ": " << record.reason;
  EXPECT_TRUE(device_->usable());
}

TEST_F(GpuDeviceTest, DoctorFindsTheDevice) {
  for (const DoctorCheck& check : check_gpu()) {
    if (check.name == "device" || check.name == "driver") {
      EXPECT_TRUE(check.ok) << check.detail;
    }
  }
}

}  // namespace
}  // namespace attnscope
