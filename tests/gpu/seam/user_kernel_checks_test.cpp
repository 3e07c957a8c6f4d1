// SPDX-License-Identifier: Apache-2.0
// Checks that reject misbehaving user-defined kernels, on a fake GPU (fake/fake_gpu.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fake_gpu.h"
#include "kernels/registry.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/worker/runner.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using test::IsReason;
using ::testing::Each;
using ::testing::Le;

/// FA2 with an unmeasured launch before or after it: a copy of its launch, or one that clears `cleared`.
class WithUnmeasuredLaunch : public test::ModifiedAlgorithm {
 public:
  WithUnmeasuredLaunch(std::string name, bool first, std::string cleared = {})
      : ModifiedAlgorithm(*built_in_algorithms().find("fa2"), std::move(name), true),
        first_(first),
        cleared_(std::move(cleared)) {}
  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    AttentionPlan plan = ModifiedAlgorithm::plan(p, config, device);
    KernelLaunch launch = plan.launches.front();
    if (!cleared_.empty()) {
      launch.source = {.file = "device/measurement.cuh", .entry = "attn_fill_words", .defines = {}};
      launch.dynamic_shared_bytes = 0;
      launch.arguments = {BufferArgument{cleared_}, find_buffer(plan.buffers, cleared_)->bytes, std::int32_t{0}};
    }
    launch.name = "unmeasured";
    launch.setup = launch.repeated = true;
    plan.launches.insert(first_ ? plan.launches.begin() : plan.launches.end(), std::move(launch));
    return plan;
  }

 private:
  bool first_;
  std::string cleared_;
};

class UserKernelChecks : public ::testing::Test {
 protected:
  void SetUp() override {
    cache_ = fs::path(::testing::TempDir()) /
             (std::string("foreign-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    for (const char* variable : libraries) setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    setenv("ATTNSCOPE_CACHE_DIR", cache_.c_str(), 1);
    const Algorithm& fa2 = *built_in_algorithms().find("fa2");
    registry_.add(std::make_unique<test::ModifiedAlgorithm>(fa2, "theirs", true));
    registry_.add(std::make_unique<test::ModifiedAlgorithm>(fa2, "ours", false));
    registry_.add(
        std::make_unique<test::ModifiedAlgorithm>(*built_in_algorithms().find("splitkv"), "two launches", true));
    options_.min_samples = 3;
    options_.max_samples = 3;
    options_.counters = false;
  }
  void TearDown() override {
    device_.reset();
    for (const char* variable : libraries) unsetenv(variable);
    unsetenv("ATTNSCOPE_CACHE_DIR");
    unsetenv("ATTNSCOPE_FAKE_GPU");
    fs::remove_all(cache_);
  }

  void open(const std::string& fault_list, bool computes = true) {
    setenv("ATTNSCOPE_FAKE_GPU", ((computes ? "compute-output," : "") + fault_list).c_str(), 1);
    auto device = open_gpu_device({}, registry_);
    ASSERT_TRUE(device) << device.error().message();
    device_ = std::move(device).value();
  }
  static PointSpec point(const char* algorithm, std::int64_t n = 64) {
    PointSpec spec{.algorithm = algorithm, .problem = {}, .tile = {}};
    spec.problem = {.batch = 1, .heads_q = 2, .heads_kv = 2, .n_q = n, .n_k = n, .d = 64};
    return spec;
  }
  PointRecord measure(const char* algorithm) { return device_->measure(point(algorithm), options_, {}); }
  /// Measures the user-defined kernel, which must be incorrect, and returns the reason.
  Message reason() {
    const PointRecord record = measure("theirs");
    EXPECT_EQ(record.disposition, Disposition::incorrect) << record.reason;
    EXPECT_TRUE(device_->usable());
    return record.reason;
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  Registry registry_;
  MeasureOptions options_;
  std::unique_ptr<Device> device_;
  fs::path cache_;
};

TEST_F(UserKernelChecks, CorrectKernelPasses) {
  open("dirty=60000");
  options_.counters = true;
  for (const std::uint64_t placement : {0U, 7U}) {
    options_.placement = placement;
    const PointRecord record = measure("theirs");
    EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
    EXPECT_LE(*record.max_abs_error, *record.error_bound);
    EXPECT_EQ(measure("ours").disposition, Disposition::ok);
    PointSpec decode = point("two launches");
    decode.problem.n_q = 1;
    decode.set_config(registry_.find("two launches")->default_config(decode.problem, device_->info().limits));
    const PointRecord two = device_->measure(decode, options_, {});
    EXPECT_EQ(two.disposition, Disposition::ok) << two.reason;
  }
}

TEST_F(UserKernelChecks, DetectsKernelThatComputesOnlyOnce) {
  open("once=fa2");
  EXPECT_THAT(reason(), IsReason("point.after_timing", "8192"));
}

TEST_F(UserKernelChecks, DetectsFailureOnOtherInputs) {
  open("gives-up=5");  // one initial launch, three samples
  EXPECT_THAT(reason(), IsReason("point.with_other_inputs", "8192"));
}

TEST_F(UserKernelChecks, DetectsWorkSkippedForPresentOutput) {
  open("leaves-out=fa2");
  EXPECT_EQ(reason().id, "point.work_left_out");
}

TEST_F(UserKernelChecks, DetectsStaleOutput) {
  open("stale=fa2");
  EXPECT_EQ(reason().id, "point.stale_output");
}

TEST_F(UserKernelChecks, DetectsWriteToInput) {
  open("write-input=fa2");
  EXPECT_THAT(reason(), IsReason("point.input_changed", "k"));
  setenv("ATTNSCOPE_FAKE_GPU", "compute-output", 1);
  EXPECT_EQ(measure("ours").disposition, Disposition::ok) << "inputs are uploaded again";

  // A point that waits for its counters with the same inputs is laid out again.
  options_.counters = true;
  PointRecord waiting = device_->measure_deferred(point("ours"), options_, {}).record;
  setenv("ATTNSCOPE_FAKE_GPU", "compute-output,write-input=fa2", 1);
  EXPECT_EQ(device_->measure_deferred(point("theirs"), options_, {}).record.disposition, Disposition::incorrect);
  const std::int64_t before = attnscope_fake_uploaded_bytes();
  std::array records{&waiting};
  EXPECT_EQ(device_->count(records, options_, {}).whole, std::vector{true});
  EXPECT_GT(attnscope_fake_uploaded_bytes(), before);
}

TEST_F(UserKernelChecks, DetectsUnderrunInEveryRound) {
  for (const std::uint64_t placement : {0U, 7U}) {
    open("underrun=fa2");
    options_.placement = placement;
    options_.verify = false;
    EXPECT_THAT(reason(), IsReason("oracle.underrun", "o"));
  }
}

TEST_F(UserKernelChecks, KernelWithoutHostCodeHasNoOtherStream) {
  open("other-stream=fa2");
  const PointRecord record = measure("theirs");
  EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
}

TEST_F(UserKernelChecks, UnmeasuredLaunchesAreNotTimed) {
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("converted", true));
  open("");
  const PointRecord record = measure("converted");
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  EXPECT_THAT(record.kernel("all")->samples_ns, Each(Le(10'020))) << "one launch of the fake GPU";
}

TEST_F(UserKernelChecks, UnmeasuredLaunchesRunAtEachExecution) {
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("clears input", true, "k"));
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("clears output first", true, "o"));
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("clears output last", false, "o"));
  open("");
  EXPECT_THAT(measure("clears input").reason, IsReason("point.input_changed", "k"));
  EXPECT_EQ(measure("clears output first").disposition, Disposition::ok);
  EXPECT_THAT(measure("clears output last").reason, IsReason("oracle.zero_rows", "128 o"));
}

TEST_F(UserKernelChecks, DetectsWorkOfUnmeasuredLaunches) {
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("computes first", true));
  open("leaves-out=fa2");  // the first of the two launches finds unwritten outputs and takes 1 ms
  EXPECT_EQ(measure("computes first").reason.id, "point.unmeasured_work");
}

TEST_F(UserKernelChecks, DetectsRowsOfZeros) {
  open("zero-rows=fa2");
  EXPECT_THAT(reason(), IsReason("oracle.zero_rows", "1 o"));
}

TEST_F(UserKernelChecks, StrayReadFaultsAtGuardPage) {
  for (const char* fault : {"stray-read=fa2", "stray-front=fa2"}) {
    open(fault);
    const PointRecord record = measure("theirs");
    EXPECT_EQ(record.disposition, Disposition::crashed);
    EXPECT_THAT(record.reason, IsReason("point.failed", "CUDA_ERROR_ILLEGAL_ADDRESS"));
    EXPECT_FALSE(device_->usable());
    open(fault);
    EXPECT_EQ(measure("ours").disposition, Disposition::ok) << "plain allocations have no guard pages";
  }
}

TEST_F(UserKernelChecks, SkipsGuardPagesWithoutMemory) {
  open("stray-read=fa2,free=" + std::to_string(std::int64_t{8} << 20));
  const PointRecord full = measure("theirs");
  EXPECT_EQ(full.disposition, Disposition::ok);
  EXPECT_EQ(full.reason.id, "point.no_room_for_guard_pages");
  EXPECT_TRUE(measure("ours").reason.empty());
  open("stray-read=fa2,no-guard-pages");
  const PointRecord cannot = measure("theirs");
  EXPECT_EQ(cannot.disposition, Disposition::ok);
  EXPECT_EQ(cannot.reason.id, "point.no_guard_pages");
  open("");
  EXPECT_TRUE(measure("theirs").reason.empty());
}

TEST_F(UserKernelChecks, DetectsTooFewDramBytes) {
  // 1 MiB of inputs and outputs; the fake GPU counts what the test configures.
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("converts all", true));
  registry_.add(std::make_unique<WithUnmeasuredLaunch>("fills o", true, "o"));
  const auto measured = [&](const char* dirty, const char* algorithm = "theirs") {
    open(dirty, false);
    options_.counters = true;
    options_.verify = false;
    return device_->measure(point(algorithm, 1024), options_, {});
  };
  const PointRecord few = measured("dirty=900000");
  EXPECT_EQ(few.disposition, Disposition::incorrect);
  EXPECT_THAT(few.reason, IsReason("point.too_few_bytes", "908192 1038090"));
  EXPECT_EQ(measured("dirty=1040384").disposition, Disposition::ok);
  EXPECT_EQ(measured("dirty=500000", "converts all").disposition, Disposition::ok);
  EXPECT_THAT(measured("dirty=480000", "converts all").reason, IsReason("point.too_few_bytes", "488192 513802"));
  EXPECT_THAT(measured("dirty=900000", "fills o").reason, IsReason("point.too_few_bytes", "908192 1038090"));
  open("dirty=900000", false);
  EXPECT_EQ(device_->measure(point("ours", 1024), options_, {}).disposition, Disposition::ok)
      << "built-in kernels are not checked";
}

TEST_F(UserKernelChecks, EveryRoundHasNewInputsAndIsVerified) {
  open("");
  SweepPlan plan;
  plan.points = {point("theirs")};
  std::vector<double> errors;
  RunObserver observer;
  observer.on_point = [&](std::size_t, const PointRecord& record) {
    EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
    ASSERT_TRUE(record.max_abs_error);
    errors.push_back(*record.max_abs_error);
  };
  EXPECT_EQ(run_sweep(plan, *device_, options_, {.count = 2, .seed = 5}, {}, observer, {}).state, RunState::complete);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_NE(errors[0], errors[1]);
  EXPECT_EQ(attnscope_fake_persisting_resets(), 2) << "before each round's timing";

  // A kernel that keeps its result from one round to the next.
  open("");
  observer.on_round = [](int round) {
    if (round == 1) setenv("ATTNSCOPE_FAKE_GPU", "compute-output,once=fa2", 1);
  };
  std::vector<Disposition> ends;
  observer.on_point = [&](std::size_t, const PointRecord& record) { ends.push_back(record.disposition); };
  (void)run_sweep(plan, *device_, options_, {.count = 2, .seed = 5}, {}, observer, {});
  EXPECT_EQ(ends, (std::vector{Disposition::ok, Disposition::incorrect}));
}

}  // namespace
}  // namespace attnscope
