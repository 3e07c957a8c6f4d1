// SPDX-License-Identifier: Apache-2.0
// Faults of a GPU, its driver and its tools, seen by the production code through the loader (fake/fake_gpu.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "fake_gpu.h"
#include "kernels/registry.h"
#include "messages/throttle.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/driver/range_profiler.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/metrics/metrics.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using test::HasWords;
using test::IsReason;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FakeDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    cache_ = fs::path(::testing::TempDir()) / (std::string("fake-gpu-") + info->name());
    fs::remove_all(cache_);
    for (const char* variable : libraries) setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    setenv("ATTNSCOPE_CACHE_DIR", cache_.c_str(), 1);
    unsetenv("CUDA_VISIBLE_DEVICES");
    faults("");
  }
  void TearDown() override {
    for (const char* variable : libraries) unsetenv(variable);
    unsetenv("ATTNSCOPE_CACHE_DIR");
    unsetenv("CUDA_VISIBLE_DEVICES");
    faults("");
    fs::remove_all(cache_);
  }

  static void faults(const char* list) { setenv("ATTNSCOPE_FAKE_GPU", list, 1); }

  static std::unique_ptr<Device> open(const char* fault_list = "") {
    faults(fault_list);
    auto device = open_gpu_device();
    if (!device) throw std::runtime_error(text(device.error().message()));
    return std::move(device).value();
  }
  static GpuError open_error(const char* fault_list) {
    faults(fault_list);
    auto device = open_gpu_device();
    if (!device) return device.error();
    ADD_FAILURE() << "opened despite " << fault_list;
    return {};
  }

  static PointSpec point(const char* algorithm = "fa2") {
    PointSpec spec{.algorithm = algorithm, .problem = {}, .tile = {}};
    spec.problem = {.batch = 1, .heads_q = 2, .heads_kv = 2, .n_q = 64, .n_k = 64, .d = 64};
    return spec;
  }
  static MeasureOptions quick() {
    MeasureOptions options;
    options.verify = false;
    options.min_samples = 3;
    options.max_samples = 6;
    options.max_noise = 1;
    options.timeout = std::chrono::milliseconds(2000);
    return options;
  }
  static double metric(const PointRecord& record, std::string_view name, std::string_view kernel = "all") {
    const KernelRecord* found = record.kernel(kernel);
    return found != nullptr ? found->metric(name).value_or(-1) : -2;
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  /// Four times the fake GPU's L2, in whole lines.
  static constexpr std::int64_t noise_bytes = 2 * (std::int64_t{2'000'000} / 128 * 128);
  CancelToken cancel_;
  fs::path cache_;
};

// ---- Opening ------------------------------------------------------------------------------------------------------

TEST_F(FakeDeviceTest, NoDriverLibrary) {
  setenv("ATTNSCOPE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1);
  const GpuError error = open_error("");
  EXPECT_TRUE(error.gpu_absent);
  EXPECT_THAT(text(error.what), HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_FALSE(error.fix.empty());
}

TEST_F(FakeDeviceTest, DriverSeesNoGpu) {
  faults("init=100");
  const auto cuda = gpu::start_driver(cache_);  // no GPU device node exists
  EXPECT_EQ(cuda.error().what.id, "gpu.not_seen");
  EXPECT_TRUE(cuda.error().gpu_absent);
  EXPECT_FALSE(list_gpus().ok());
}

TEST_F(FakeDeviceTest, InvisibleGpuWithDeviceNodeHasFailed) {
  const fs::path devices = cache_ / "dev";
  fs::create_directories(devices);
  std::ofstream(devices / "nvidiactl");
  faults("init=100");
  EXPECT_TRUE(gpu::start_driver(devices).error().gpu_absent);
  std::ofstream(devices / "nvidia0");
  const auto cuda = gpu::start_driver(devices);
  EXPECT_FALSE(cuda.error().gpu_absent);
  EXPECT_THAT(text(cuda.error().what), HasSubstr((devices / "nvidia0").string()));
}

TEST_F(FakeDeviceTest, OpensGpuByUuid) {
  faults("gpus=2");
  const std::string second = list_gpus()->at(1).uuid;
  GpuOptions options;
  options.uuid = second;
  const auto device = open_gpu_device(options);
  ASSERT_TRUE(device.ok()) << device.error().what;
  EXPECT_EQ(device.value()->info().uuid, second);
  EXPECT_EQ(device.value()->info().ordinal, 1);
  faults("");
  const auto gone = open_gpu_device(options);
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.error().what.id, "gpu.no_uuid");
  EXPECT_THAT(text(gone.error().what), HasSubstr(second));
}

TEST_F(FakeDeviceTest, VisibleDevicesEmpty) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const GpuError error = open_error("init=100");
  EXPECT_TRUE(error.gpu_absent);
  EXPECT_THAT(error.what, IsReason("gpu.hidden", "CUDA_VISIBLE_DEVICES="));
}

TEST_F(FakeDeviceTest, ReportsWhyGpuCannotBeOpened) {
  struct Case {
    const char* faults;
    const char* code;
    const char* words;  ///< in the reason
  };
  for (const Case& each :
       {Case{"init=803", "gpu.driver_start", "cuInit"}, Case{"driver=11080", "gpu.driver_too_old", "11.8 12.0"},
        Case{"compute=75", "gpu.capability", "7.5 8.0"},
        Case{"oom-at=1", "gpu.unusable", "0 CUDA_ERROR_OUT_OF_MEMORY"}}) {
    const GpuError error = open_error(each.faults);
    EXPECT_FALSE(error.gpu_absent) << each.faults;
    EXPECT_THAT(error.what, IsReason(each.code, each.words));
  }
}

TEST_F(FakeDeviceTest, NoSuchOrdinal) {
  GpuOptions options;
  options.ordinal = 3;
  const auto device = open_gpu_device(options);
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().what, IsReason("gpu.no_ordinal", "3"));
}

TEST_F(FakeDeviceTest, NoCompiler) {
  setenv("ATTNSCOPE_NVRTC_LIBRARY", "/nonexistent/libnvrtc.so.13", 1);
  EXPECT_THAT(text(open_error("").what), HasSubstr("NVRTC"));
}

TEST_F(FakeDeviceTest, DescribesItself) {
  const auto device = open();
  EXPECT_EQ(device->info().uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(device->info().limits.name, "Fake GPU");
  EXPECT_EQ(device->info().limits.sm_count, 4);
  EXPECT_FALSE(device->info().simulated);
  const Environment environment = device->environment();
  EXPECT_EQ(environment.cuda_driver_api, "13.0");
  EXPECT_EQ(environment.nvrtc_version, "13.0");
  EXPECT_EQ(environment.driver_version, "580.1");
  EXPECT_EQ(environment.nvml_version, "13.580.1");
  EXPECT_FALSE(environment.cupti_version.empty());
  const auto gpus = list_gpus();
  ASSERT_TRUE(gpus.ok());
  ASSERT_EQ(gpus->size(), 1U);
  EXPECT_EQ(gpus->front().compute_major, 9);
}

// ---- Successful points --------------------------------------------------------------------------------------------

TEST_F(FakeDeviceTest, MeasuresCompletePoint) {
  const auto device = open("compute-output,local=16");
  EXPECT_EQ(device->counters().state, CounterState::available);
  MeasureOptions options = quick();
  options.verify = true;
  PointSpec spec = point();
  spec.problem.mask = Mask::causal;
  spec.problem.n_q = 70;  // ragged, with rows that see no key
  const PointRecord record = device->measure(spec, options, cancel_);
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  EXPECT_EQ(text(record.reason), "");
  EXPECT_EQ(record.provenance, Provenance::measured);
  EXPECT_EQ(record.spec, spec);
  ASSERT_TRUE(record.max_abs_error && record.error_bound && record.rms_error);
  EXPECT_LE(*record.max_abs_error, *record.error_bound);
  EXPECT_GT(*record.error_bound, 0);

  ASSERT_EQ(record.kernels.size(), 1U);
  EXPECT_EQ(record.kernels.front().samples_ns.size(), 3U);
  EXPECT_NEAR(record.kernels.front().samples_ns.front(), 10'010, 15);
  EXPECT_EQ(metric(record, metric_key::registers), 128);
  EXPECT_EQ(metric(record, metric_key::local_bytes), 16);
  EXPECT_GT(metric(record, metric_key::shared_bytes), 256);
  // Q and O of two heads with 70 rows, K and V with 64, fp32 LSE.
  EXPECT_EQ(metric(record, metric_key::memory_bytes), 2 * 2 * 2 * (70 + 64) * 64 + 2 * 70 * 4);
  EXPECT_EQ(evaluate(metric_key::memory_bytes, record)->provenance, Provenance::modeled) << "computed from the plan";
  EXPECT_GT(metric(record, metric_key::theoretical_occupancy_pct), 0);
  EXPECT_FALSE(record.kernels.front().occupancy_limiter.empty());
  const KernelLaunch launch =
      built_in_algorithms().find("fa2")->plan(spec.problem, spec.config(), device->info().limits).launches[0];
  ASSERT_TRUE(record.kernels.front().launch);
  const LaunchRecord& ran = *record.kernels.front().launch;
  EXPECT_EQ(ran.kernel, "fwd");
  EXPECT_EQ(ran.source_file, launch.source.file);
  EXPECT_EQ(ran.entry, launch.source.entry);
  EXPECT_EQ(ran.defines, launch.source.defines);
  EXPECT_EQ(ran.digest.size(), 36U);
  EXPECT_EQ(ran.registers, 128);
  EXPECT_EQ(ran.local_bytes, 16);
  EXPECT_EQ(ran.static_shared_bytes, 256);
  EXPECT_EQ(ran.dynamic_shared_bytes, launch.dynamic_shared_bytes);
  EXPECT_EQ(ran.threads, static_cast<int>(launch.block[0]));
  EXPECT_EQ(ran.grid, launch.grid);
  EXPECT_GT(metric(record, metric_key::model_l2_to_sm_bytes), 0);
  EXPECT_GT(metric(record, metric_key::model_compulsory_bytes), 0);
  // Each pass has one launch in its range and nothing else; the L2 fill stays outside.
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), 4096);
  EXPECT_EQ(metric(record, metric_key::l2_to_sm_bytes), 4096);
  EXPECT_EQ(metric(record, metric_key::achieved_occupancy_pct), 50);

  ASSERT_TRUE(record.clocks);
  EXPECT_EQ(record.clocks->sm_clock_hz, 1755e6);
  EXPECT_EQ(record.clocks->memory_clock_hz, 2619e6);
  EXPECT_EQ(record.clocks->power_w, 250.5);
  EXPECT_EQ(record.clocks->temperature_c, 41);
  EXPECT_FALSE(record.clocks->throttled);
}

TEST_F(FakeDeviceTest, PlanHasPerKernelAndSummedRecords) {
  const auto device = open();
  const PointRecord record = device->measure(point("naive"), quick(), cancel_);
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  std::vector<std::string> names;
  for (const KernelRecord& kernel : record.kernels) names.push_back(kernel.kernel);
  ASSERT_THAT(names, ElementsAre("all", "qk", "softmax", "pv"));
  EXPECT_FALSE(record.kernels[0].launch) << "a sum has no launch";
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_TRUE(record.kernels[i].launch) << names[i];
    EXPECT_EQ(record.kernels[i].launch->kernel, names[i]);
  }
  EXPECT_NE(record.kernels[1].launch->digest, record.kernels[2].launch->digest);
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes, "qk"), 4096);
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), 3 * 4096);
  EXPECT_EQ(metric(record, metric_key::achieved_occupancy_pct), 50);
  const auto& all = record.kernels.front().samples_ns;
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    double sum = 0;
    for (const char* name : {"qk", "softmax", "pv"}) sum += record.kernel(name)->samples_ns.at(i);
    EXPECT_NEAR(all[i], sum, 30);  // the fake GPU has no cache, and a span ends with its last launch
  }
  EXPECT_EQ(metric(record, metric_key::model_l2_to_sm_bytes),
            metric(record, metric_key::model_l2_to_sm_bytes, "qk") +
                metric(record, metric_key::model_l2_to_sm_bytes, "softmax") +
                metric(record, metric_key::model_l2_to_sm_bytes, "pv"));
}

TEST_F(FakeDeviceTest, CountsWriteBackOfColdKernel) {
  const auto device = open("dirty=10000");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), 4096) << "the noise is read outside the launch's range";
  EXPECT_EQ(metric(record, metric_key::dram_write_bytes), 4096);
  EXPECT_EQ(metric(record, metric_key::dram_writeback_bytes), 10000);
  const auto settled = evaluate(metric_key::dram_settled_bytes, record);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->value, 2 * 4096 + 10000);
  EXPECT_EQ(settled->provenance, Provenance::measured);

  const PointRecord naive = device->measure(point("naive"), quick(), cancel_);
  ASSERT_EQ(naive.disposition, Disposition::ok) << naive.reason;
  for (const char* kernel : {"qk", "softmax", "pv"}) {
    EXPECT_EQ(metric(naive, metric_key::dram_writeback_bytes, kernel), 10000) << kernel;
    EXPECT_EQ(evaluate(metric_key::dram_settled_bytes, naive, kernel)->value, 2 * 4096 + 10000) << kernel;
  }
  EXPECT_EQ(metric(naive, metric_key::dram_writeback_bytes), 3 * 10000);
  EXPECT_EQ(evaluate(metric_key::dram_settled_bytes, naive)->value, 3 * (2 * 4096 + 10000));
}

TEST_F(FakeDeviceTest, ExcludesWriteBackOfCounting) {
  const auto device = open("dirty=10000,range-dirty=700");
  for (const char* algorithm : {"fa2", "naive", "fa2"}) {
    const PointRecord record = device->measure(point(algorithm), quick(), cancel_);
    ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
    const double kernels = record.kernels.size() > 1 ? static_cast<double>(record.kernels.size() - 1) : 1;
    EXPECT_EQ(metric(record, metric_key::dram_write_bytes), 4096 * kernels) << algorithm;
    EXPECT_EQ(metric(record, metric_key::dram_writeback_bytes), 10000 * kernels) << algorithm;
  }
}

TEST_F(FakeDeviceTest, WarmStartHasNoWriteBackAndNoNoise) {
  const auto device = open("dirty=10000,free=4000000");
  PointSpec spec = point();
  spec.cache = CacheState::warm;
  const PointRecord warm = device->measure(spec, quick(), cancel_);
  ASSERT_EQ(warm.disposition, Disposition::ok) << warm.reason;
  EXPECT_EQ(metric(warm, metric_key::dram_write_bytes), 4096);
  EXPECT_EQ(metric(warm, metric_key::dram_writeback_bytes), -1);
  EXPECT_FALSE(evaluate(metric_key::dram_settled_bytes, warm));
  EXPECT_EQ(dram_traffic(warm)->value, 2 * 4096);

  const PointRecord cold = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(cold.disposition, Disposition::out_of_memory) << "2 MB remain besides the L2 fill buffer";
  const std::int64_t plan =
      built_in_algorithms().find("fa2")->plan(point().problem, {}, known_gpus().front()).buffer_bytes();
  EXPECT_THAT(cold.reason, IsReason("point.needs_memory", std::to_string(plan + noise_bytes)));
  MeasureOptions timed = quick();
  timed.counters = false;
  EXPECT_EQ(device->measure(point(), timed, cancel_).disposition, Disposition::ok);
}

TEST_F(FakeDeviceTest, CounterConfigurationIsReused) {
  const auto device = open("dirty=10000");
  const auto before = attnscope_fake_counter_configs();
  for (const char* algorithm : {"fa2", "naive", "fa1", "fa2"}) {
    const PointRecord record = device->measure(point(algorithm), quick(), cancel_);
    ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
    const double kernels = record.kernels.size() > 1 ? static_cast<double>(record.kernels.size() - 1) : 1;
    EXPECT_EQ(metric(record, metric_key::l2_to_sm_bytes), 4096 * kernels) << algorithm;
    EXPECT_EQ(metric(record, metric_key::dram_writeback_bytes), 10000 * kernels) << algorithm;
  }
  EXPECT_EQ(attnscope_fake_counter_configs() - before, 1);

  MeasureOptions more = quick();
  more.extra_metrics = {"lts__t_bytes.sum"};
  const PointRecord with_more = device->measure(point(), more, cancel_);
  EXPECT_EQ(metric(with_more, "lts__t_bytes.sum"), 4096) << "counters are reconfigured for other metrics";
  EXPECT_EQ(metric(with_more, metric_key::l2_to_sm_bytes), 4096);
  EXPECT_EQ(attnscope_fake_counter_configs() - before, 2);
  PointSpec many = point("naive");  // several kernels fit in it
  many.problem.pass = Pass::fwd_bwd;
  const PointRecord both = device->measure(many, more, cancel_);
  ASSERT_EQ(both.disposition, Disposition::ok) << both.reason;
  ASSERT_GT(both.kernels.size(), 5U);
  EXPECT_EQ(metric(both, metric_key::dram_writeback_bytes), 10000.0 * static_cast<double>(both.kernels.size() - 1));
  EXPECT_EQ(attnscope_fake_counter_configs() - before, 2);
}

TEST_F(FakeDeviceTest, CountersAreReconfiguredForMoreRanges) {
  faults("");
  auto cuda = gpu::start_driver();
  ASSERT_TRUE(cuda.ok());
  auto cupti = gpu::CuptiApi::load();
  ASSERT_TRUE(cupti.ok());
  const gpu::Context context(*cuda, 0);
  gpu::RangeProfiler profiler(*cupti, context.get(), 0);
  const gpu::CounterConfig config = profiler.host().configure({"dram__bytes_read.sum"});
  const auto before = attnscope_fake_counter_configs();
  for (const std::size_t count :
       {std::size_t{3}, gpu::RangeProfiler::min_allocated_ranges, std::size_t{200}, std::size_t{5}}) {
    std::vector<gpu::RangeProfiler::Range> ranges;
    for (std::size_t i = 0; i < count; ++i) ranges.push_back({std::to_string(i), {}, [] {}});
    EXPECT_EQ(profiler.collect(config, ranges).size(), count);
  }
  EXPECT_EQ(attnscope_fake_counter_configs() - before, 2);
}

TEST_F(FakeDeviceTest, SingleUseConfigurationsAreRecreated) {
  for (const char* fault : {"single-use,dirty=10000", "short-again,dirty=10000"}) {
    const auto device = open(fault);
    const auto before = attnscope_fake_counter_configs();
    for (int i = 0; i < 3; ++i) {
      const PointRecord record = device->measure(point(), quick(), cancel_);
      ASSERT_EQ(record.disposition, Disposition::ok) << fault << ": " << record.reason;
      EXPECT_EQ(metric(record, metric_key::l2_to_sm_bytes), 4096) << fault;
      EXPECT_EQ(metric(record, metric_key::dram_writeback_bytes), 10000) << fault;
      EXPECT_EQ(attnscope_fake_counter_configs() - before, i + 1) << fault;
    }
  }
}

TEST_F(FakeDeviceTest, FailuresWhileCountingWriteBack) {
  const auto counted_nothing = [](const PointRecord& record) {
    return metric(record, metric_key::dram_read_bytes) == -1 && metric(record, metric_key::dram_writeback_bytes) == -1;
  };
  for (const char* fault : {"refuse-range=write-back", "lose-range=write-back"}) {
    const auto device = open(fault);
    const PointRecord record = device->measure(point(), quick(), cancel_);
    EXPECT_EQ(record.disposition, Disposition::no_counters) << fault << ": " << record.reason;
    EXPECT_TRUE(counted_nothing(record)) << fault << ": partial counts must not be reported";
    EXPECT_EQ(record.kernels.front().samples_ns.size(), 3U);
    faults("");
    EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
  }
  const auto hanging = open("hang=read_noise");
  MeasureOptions options = quick();
  options.timeout = std::chrono::milliseconds(20);
  const PointRecord hung = hanging->measure(point(), options, cancel_);
  EXPECT_EQ(hung.disposition, Disposition::timeout) << hung.reason;
  EXPECT_TRUE(counted_nothing(hung));
  EXPECT_FALSE(hanging->usable());

  const auto crashing = open("crash=read_noise");
  const PointRecord crashed = crashing->measure(point(), quick(), cancel_);
  EXPECT_EQ(crashed.disposition, Disposition::crashed);
  EXPECT_THAT(crashed.reason, IsReason("point.failed", "CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_FALSE(crashing->usable());
}

TEST_F(FakeDeviceTest, CancelledWhileCountingWriteBack) {
  const auto device = open();
  static CancelToken* token = nullptr;
  token = &cancel_;
  attnscope_fake_on_launch([](const char* entry) {
    if (std::string_view(entry) == "attn_read_noise") token->cancel();
  });
  const PointRecord record = device->measure(point(), quick(), cancel_);
  attnscope_fake_on_launch(nullptr);
  EXPECT_EQ(record.disposition, Disposition::cancelled) << record.reason;
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), -1);
  EXPECT_TRUE(device->usable());
  CancelToken fresh;
  const PointRecord next = device->measure(point(), quick(), fresh);
  EXPECT_EQ(next.disposition, Disposition::ok) << next.reason;
  EXPECT_EQ(metric(next, metric_key::dram_read_bytes), 4096);
}

TEST_F(FakeDeviceTest, SetUpLaunchesRunOnceUnmeasured) {
  const auto device = open();
  PointSpec spec = point("naive");
  spec.problem.pass = Pass::bwd;
  const AttentionPlan plan =
      built_in_algorithms().find("naive")->plan(spec.problem, spec.config(), device->info().limits);
  std::vector<std::string> measured{"all"};
  std::int64_t setup = 0;
  for (const KernelLaunch& launch : plan.launches) {
    if (!launch.setup) measured.push_back(launch.name);
    setup += launch.setup ? 1 : 0;
  }
  ASSERT_GT(setup, 0);
  ASSERT_GT(measured.size(), 2U);
  const auto each = static_cast<std::int64_t>(measured.size()) - 1;

  MeasureOptions options = quick();
  options.counters = false;
  const auto before = attnscope_fake_launches();
  const PointRecord timed = device->measure(spec, options, cancel_);
  ASSERT_EQ(timed.disposition, Disposition::ok) << timed.reason;
  std::vector<std::string> names;
  for (const KernelRecord& kernel : timed.kernels) names.push_back(kernel.kernel);
  EXPECT_EQ(names, measured);
  // Initial run of each launch, then three samples of the whole plan and three of each launch.
  EXPECT_EQ(attnscope_fake_launches() - before, setup + each + 3 * (each + each));

  options.bare = true;
  const auto before_bare = attnscope_fake_launches();
  const PointRecord bare = device->measure(spec, options, cancel_);
  ASSERT_EQ(bare.disposition, Disposition::ok) << bare.reason;
  EXPECT_EQ(attnscope_fake_launches() - before_bare, setup + 3 * each) << "three launches each and nothing else";
  EXPECT_EQ(bare.kernel("all")->samples_ns.size(), 3U);

  const PointRecord counted = device->measure(spec, quick(), cancel_);
  ASSERT_EQ(counted.disposition, Disposition::ok) << counted.reason;
  EXPECT_EQ(metric(counted, metric_key::dram_read_bytes), static_cast<double>(4096 * each));
  EXPECT_EQ(metric(counted, metric_key::model_l2_to_sm_bytes), static_cast<double>(plan.traffic().l2_to_sm_bytes));
  EXPECT_EQ(metric(counted, metric_key::memory_bytes), static_cast<double>(plan.buffer_bytes()));

  spec.problem.pass = Pass::fwd_bwd;
  const PointRecord both = device->measure(spec, options, cancel_);
  EXPECT_EQ(static_cast<std::int64_t>(both.kernels.size()), 1 + setup + each) << "the forward pass is measured as well";
}

TEST_F(FakeDeviceTest, OverlappingPlanIsAlsoVerifiedOverlapped) {
  MeasureOptions options = quick();
  options.counters = false;
  options.verify = true;
  PointSpec decode = point("splitkv");
  decode.problem.n_q = 1;
  const auto right = open("compute-output");
  decode.set_config(built_in_algorithms().find("splitkv")->default_config(decode.problem, right->info().limits));
  const auto before = attnscope_fake_early_launches();
  const PointRecord record = right->measure(decode, options, cancel_);
  EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
  // Combine launches: initial, overlapped, three samples of the plan, three separate samples.
  EXPECT_EQ(attnscope_fake_early_launches() - before, 2 + 3 + 3);

  // Outputs are cleared before the second run, so a kernel that writes nothing is detected.
  const auto wrong = open("compute-output,once=combine");
  const PointRecord stale = wrong->measure(decode, options, cancel_);
  EXPECT_EQ(stale.disposition, Disposition::incorrect);
  EXPECT_EQ(stale.reason.id, "point.run_again");
}

TEST_F(FakeDeviceTest, OnlyMarkedLaunchesStartEarly) {
  const auto device = open();
  MeasureOptions options = quick();
  options.counters = false;
  const auto before = attnscope_fake_early_launches();
  EXPECT_EQ(device->measure(point("fa2"), options, cancel_).disposition, Disposition::ok);
  EXPECT_EQ(attnscope_fake_early_launches(), before);
  PointSpec decode = point("splitkv");
  decode.problem.n_q = 1;
  decode.set_config(built_in_algorithms().find("splitkv")->default_config(decode.problem, device->info().limits));
  const PointRecord record = device->measure(decode, options, cancel_);
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  // Combine launches: initial, three samples of the plan, three separate samples.
  EXPECT_EQ(attnscope_fake_early_launches() - before, 1 + 3 + 3);
}

TEST_F(FakeDeviceTest, CrashNamesTheSetUpLaunch) {
  const auto device = open("crash=softmax");
  PointSpec spec = point("naive");
  spec.problem.pass = Pass::bwd;
  const PointRecord record = device->measure(spec, quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::crashed);
  EXPECT_THAT(record.reason, IsReason("point.failed", "softmax"));
}

TEST_F(FakeDeviceTest, GradientsNeverWrittenAreIncorrect) {
  const auto device = open();
  MeasureOptions options = quick();
  options.verify = true;
  PointSpec spec = point("naive");
  spec.problem.pass = Pass::bwd;
  const PointRecord record = device->measure(spec, options, cancel_);
  EXPECT_EQ(record.disposition, Disposition::incorrect);
  EXPECT_THAT(record.reason, IsReason("oracle.not_finite", "8192"));
}

TEST_F(FakeDeviceTest, EveryAlgorithmRunsGroupedAndWarm) {
  const auto device = open();
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    PointSpec spec = point(std::string(algorithm->name()).c_str());
    spec.problem.heads_kv = 1;
    if (algorithm->refusal(spec.problem, spec.config(), device->info().limits))
      spec.problem.n_q = 1;  // for decoding algorithms
    spec.cache = CacheState::warm;
    const PointRecord record = device->measure(spec, quick(), cancel_);
    EXPECT_EQ(record.disposition, Disposition::ok) << spec.algorithm << ": " << record.reason;
  }
}

TEST_F(FakeDeviceTest, InputsAreReusedForTheSameProblem) {
  const auto device = open();
  PointSpec spec = point();
  (void)device->measure(spec, quick(), cancel_);
  const auto uploaded = attnscope_fake_uploaded_bytes();
  EXPECT_GT(uploaded, 0);
  spec.tile.bc = 32;
  spec.problem.mask = Mask::causal;
  (void)device->measure(spec, quick(), cancel_);
  EXPECT_EQ(attnscope_fake_uploaded_bytes(), uploaded);
  spec.problem.n_k = 65;
  (void)device->measure(spec, quick(), cancel_);
  EXPECT_GT(attnscope_fake_uploaded_bytes(), uploaded);
}

TEST_F(FakeDeviceTest, SuggestsSimilarMetricNames) {
  const auto device = open();
  const std::vector<std::string> asked{"lts__t_bytes.sum", "lts__t_byte.sum", "dram__bytes_read.total"};
  const auto unknown = device->unknown_metrics(asked);
  ASSERT_EQ(unknown.size(), 2U);
  EXPECT_EQ(unknown[0].name, "lts__t_byte.sum");
  EXPECT_THAT(unknown[0].near, ::testing::Contains("lts__t_bytes.sum"));
  EXPECT_EQ(unknown[1].name, "dram__bytes_read.total");

  MeasureOptions options = quick();
  options.extra_metrics = {"lts__t_bytes.sum"};
  const PointRecord record = device->measure(point(), options, cancel_);
  ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
  EXPECT_EQ(metric(record, "lts__t_bytes.sum"), 4096);
}

TEST_F(FakeDeviceTest, SamplesUntilNoiseIsLow) {
  const auto device = open();
  MeasureOptions options = quick();
  options.max_noise = 0;  // never reached
  options.max_samples = 17;
  const PointRecord record = device->measure(point(), options, cancel_);
  EXPECT_EQ(record.kernels.front().samples_ns.size(), 17U);
}

TEST_F(FakeDeviceTest, MissingNvmlValuesAreNotZero) {
  for (const char* fault : {"nvml-clock=3", "nvml-temperature=3", "nvml-power=3", "nvml-reasons=3"}) {
    const auto device = open(fault);
    const PointRecord record = device->measure(point(), quick(), cancel_);
    EXPECT_EQ(record.disposition, Disposition::ok) << fault << record.reason;
    EXPECT_FALSE(record.clocks) << fault << ": missing values must not read as 0 W or unthrottled";
  }
}

TEST_F(FakeDeviceTest, ReportsNvrtcFailures) {
  EXPECT_THAT(text(open_error("nvrtc-count=2").what), HasSubstr("nvrtcGetNumSupportedArchs"));
  EXPECT_THAT(text(open_error("nvrtc-archs=2").what), HasSubstr("nvrtcGetSupportedArchs"));
  // Spills are reported only in the log; without it, zero spills would be unfounded.
  EXPECT_THAT(text(open_error("nvrtc-log=2").what), HasSubstr("nvrtcGetProgramLog"));
  { ASSERT_NE(open(), nullptr); }  // the kernels that every device needs are cached from here on
  const auto device = open("nvrtc-log=2,compile-error=fa2");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::compile_error);
  EXPECT_THAT(text(record.reason), HasSubstr("nvrtcCompileProgram"));
}

TEST_F(FakeDeviceTest, ModifiedCubinIsRecompiled) {
  { EXPECT_EQ(open()->measure(point(), quick(), cancel_).disposition, Disposition::ok); }
  std::size_t changed = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
    if (entry.path().extension() != ".cubin") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.put('X');  // same length
    ++changed;
  }
  ASSERT_GT(changed, 0U);
  const std::int64_t before = attnscope_fake_compilations();
  { EXPECT_EQ(open()->measure(point(), quick(), cancel_).disposition, Disposition::ok); }
  EXPECT_EQ(attnscope_fake_compilations() - before, static_cast<std::int64_t>(changed));
  const std::int64_t again = attnscope_fake_compilations();
  { EXPECT_EQ(open()->measure(point(), quick(), cancel_).disposition, Disposition::ok); }
  EXPECT_EQ(attnscope_fake_compilations(), again) << "recompiled kernels are cached";
  for (const auto& entry : fs::recursive_directory_iterator(cache_)) {
    if (entry.path().extension() == ".json") std::ofstream(entry.path()) << R"({"cubin_digest": 7})";
  }
  { EXPECT_EQ(open()->measure(point(), quick(), cancel_).disposition, Disposition::ok); }
}

TEST_F(FakeDeviceTest, ThrottledPointIsKeptAndMarked) {
  const auto device = open("throttle=36");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::ok);
  ASSERT_TRUE(record.clocks);
  EXPECT_TRUE(record.clocks->throttled);
  EXPECT_EQ(record.clocks->throttle_reasons, 36U);
}

TEST_F(FakeDeviceTest, WithoutNvmlThereAreNoClocks) {
  setenv("ATTNSCOPE_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so.1", 1);
  const auto device = open();
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
  EXPECT_FALSE(record.clocks);
}

// ---- Shared counter sessions --------------------------------------------------------------------------------------

class SharedSessionTest : public FakeDeviceTest {
 protected:
  /// Four points whose launches have 2, 4, 6 and 8 blocks; the third has three kernels.
  static std::vector<PointSpec> four() {
    std::vector<PointSpec> specs{point(), point(), point("naive"), point("fa1")};
    std::int64_t n = 0;
    for (PointSpec& spec : specs) spec.problem.n_q = spec.problem.n_k = n += 64;
    return specs;
  }
  static std::vector<PointSpec> fa2_points(std::int64_t count) {
    std::vector<PointSpec> specs;
    for (std::int64_t i = 1; i <= count; ++i) {
      specs.push_back(point());
      specs.back().problem.n_q = 64 * i;
    }
    return specs;
  }
  struct Counted {
    std::vector<PointRecord> records;
    std::vector<bool> whole;
  };
  Counted count(Device& device, const std::vector<PointSpec>& specs, const char* faults_then = nullptr,
                MeasureOptions options = quick()) {
    Counted counted;
    for (const PointSpec& spec : specs) {
      Device::MeasurementResult one = device.measure_deferred(spec, options, cancel_);
      EXPECT_TRUE(one.counters_pending) << one.record.reason;
      EXPECT_EQ(metric(one.record, metric_key::dram_read_bytes), -1) << "not counted yet";
      counted.records.push_back(std::move(one.record));
    }
    std::vector<PointRecord*> pointers;
    for (PointRecord& record : counted.records) pointers.push_back(&record);
    if (faults_then != nullptr) faults(faults_then);
    counted.whole = device.count(pointers, options, cancel_).whole;
    return counted;
  }
  /// Counts of a point measured alone, with the faults "by-grid,dirty=10000".
  static std::map<std::string, double> alone(Device& device, const PointSpec& spec, const CancelToken& cancel) {
    const PointRecord record = device.measure(spec, quick(), cancel);
    EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
    return values(record);
  }
  static std::map<std::string, double> values(const PointRecord& record) {
    std::map<std::string, double> all;
    for (const KernelRecord& kernel : record.kernels) {
      for (const MetricValue& value : kernel.metrics) all[kernel.kernel + " " + value.name] = value.value;
    }
    return all;
  }
};

TEST_F(SharedSessionTest, SessionCountsEachPointSeparately) {
  const auto device = open("by-grid,dirty=10000");
  std::vector<std::map<std::string, double>> apart;
  for (const PointSpec& spec : four()) apart.push_back(alone(*device, spec, cancel_));
  EXPECT_EQ(apart[0].at("all dram_read_bytes"), 4096 * 2);
  EXPECT_EQ(apart[1].at("all dram_read_bytes"), 4096 * 4) << "two heads, two tiles of 64 rows";

  const auto sessions = attnscope_fake_counter_sessions();
  const auto uploaded = attnscope_fake_uploaded_bytes();
  const Counted together = count(*device, four());
  EXPECT_EQ(together.whole, std::vector<bool>(4, true));
  EXPECT_EQ(attnscope_fake_counter_sessions() - sessions, 2) << "one session per pass for any number of points";
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(together.records[i].disposition, Disposition::ok) << together.records[i].reason;
    EXPECT_EQ(values(together.records[i]), apart[i]) << i;
    EXPECT_GT(together.records[i].wall_seconds, 0);
  }
  EXPECT_EQ(std::string(attnscope_fake_pushed_ranges()),
            "fwd of point 0\nfwd of point 0 with write-back\n"
            "fwd of point 1\nfwd of point 1 with write-back\n"
            "qk of point 2\nqk of point 2 with write-back\n"
            "softmax of point 2\nsoftmax of point 2 with write-back\n"
            "pv of point 2\npv of point 2 with write-back\n"
            "fwd of point 3\nfwd of point 3 with write-back\n");
  EXPECT_GT(attnscope_fake_uploaded_bytes(), uploaded);
  const auto after = attnscope_fake_uploaded_bytes();
  (void)count(*device, four());
  EXPECT_EQ(attnscope_fake_uploaded_bytes(), after) << "inputs are reused for points of the same problem";
}

TEST_F(SharedSessionTest, PointsOfOneProblemShareInputs) {
  const auto device = open("by-grid");
  (void)device->measure(point(), quick(), cancel_);
  const auto uploaded = attnscope_fake_uploaded_bytes();
  std::vector<PointSpec> tiles(5, point());
  for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i].tile = {.br = 64, .bc = 32 + 16 * static_cast<int>(i)};
  tiles[3].problem.n_k = 128;
  Counted counted = count(*device, {tiles[0], tiles[1], tiles[2]});
  EXPECT_EQ(attnscope_fake_uploaded_bytes(), uploaded);
  // Another problem gets its own input slot and leaves the others unchanged.
  MeasureOptions options = quick();
  std::vector<PointRecord> records;
  for (const PointSpec& spec : tiles) {
    records.push_back(device->measure_deferred(spec, options, cancel_).record);
    if (&spec == &tiles[3]) {
      EXPECT_GT(attnscope_fake_uploaded_bytes(), uploaded);
    }
  }
  const auto both = attnscope_fake_uploaded_bytes();
  std::vector<PointRecord*> pointers;
  for (PointRecord& record : records) pointers.push_back(&record);
  EXPECT_EQ(device->count(pointers, options, cancel_).whole, std::vector<bool>(5, true));
  (void)device->measure_deferred(tiles[4], options, cancel_);
  EXPECT_EQ(attnscope_fake_uploaded_bytes(), both);
  // All of them compute correct results with inputs that another point uploaded.
  faults("by-grid,compute-output");
  options.verify = true;
  for (const PointSpec& spec : tiles) {
    const Device::MeasurementResult point = device->measure_deferred(spec, options, cancel_);
    EXPECT_EQ(point.record.disposition, Disposition::ok) << describe(spec) << ": " << point.record.reason;
  }
}

TEST_F(SharedSessionTest, ExtraMetricsAndWarmPoints) {
  const auto device = open("by-grid,dirty=10000");
  MeasureOptions options = quick();
  options.extra_metrics = {"lts__t_bytes.sum"};
  auto specs = fa2_points(3);
  specs[1].cache = CacheState::warm;
  const Counted counted = count(*device, specs, nullptr, options);
  for (std::size_t i = 0; i < 3; ++i) {
    const PointRecord& record = counted.records[i];
    ASSERT_EQ(record.disposition, Disposition::ok) << record.reason;
    const double moved = 4096.0 * 2 * static_cast<double>(i + 1);
    EXPECT_EQ(metric(record, "lts__t_bytes.sum"), moved) << i;
    EXPECT_EQ(metric(record, metric_key::dram_read_bytes), moved) << i;
    EXPECT_EQ(metric(record, metric_key::dram_writeback_bytes), i == 1 ? -1 : 10000)
        << "warm points have no write-back";
  }
}

TEST_F(SharedSessionTest, WarmPointIsWarmedByItself) {
  const auto device = open();
  auto specs = fa2_points(2);
  specs[0].problem.n_q = 128;
  specs[1].cache = CacheState::warm;
  specs[1].problem.n_q = 64;
  static std::vector<std::string> entries;
  entries.clear();
  attnscope_fake_on_launch([](const char* entry) { entries.emplace_back(entry); });
  (void)count(*device, specs);
  attnscope_fake_on_launch(nullptr);
  // At the end of a pass: the cold point's write-back, then the warm-up launch and the counted launch of the warm
  // point.
  ASSERT_GE(entries.size(), 3U);
  EXPECT_EQ(std::vector<std::string>(entries.end() - 2, entries.end()),
            (std::vector<std::string>{"attn_fa2_forward", "attn_fa2_forward"}));
}

TEST_F(SharedSessionTest, CounterFailureAffectsOnlyItsPoint) {
  const auto all_but = [&](Device& device, const char* fault, std::size_t guilty) {
    const Counted counted = count(device, fa2_points(4), fault);
    EXPECT_EQ(counted.whole, std::vector<bool>(4, true)) << fault;
    for (std::size_t i = 0; i < 4; ++i) {
      const PointRecord& record = counted.records[i];
      EXPECT_EQ(record.disposition, i == guilty ? Disposition::no_counters : Disposition::ok)
          << fault << ", point " << i << ": " << record.reason;
      EXPECT_EQ(metric(record, metric_key::dram_read_bytes), i == guilty ? -1 : 4096.0 * 2 * static_cast<double>(i + 1))
          << fault << ", point " << i;
      EXPECT_EQ(record.kernels.front().samples_ns.size(), 3U);
    }
  };
  constexpr std::size_t nobody = 9;
  // Fails once: the shared session fails, and succeeds when it is retried with a new configuration.
  for (const char* call : {"start", "push", "pop", "stop", "decode"}) {
    const auto device = open("by-grid");
    all_but(*device, ("by-grid,cupti-" + std::string(call) + "-at=1").c_str(), nobody);
  }
  // Ranges with that name are always refused. Alone, each point is number 0.
  const auto third = open("by-grid");
  all_but(*third, "by-grid,refuse-range=of point 2", nobody);
  const auto lost = open("by-grid");
  all_but(*lost, "by-grid,lose-range=of point 2", nobody);
}

// CUPTI continues with the pass after the one that was aborted; the next counts would lack that pass's counters.
TEST_F(SharedSessionTest, NoCounterIsMissingAfterAbortedSession) {
  std::vector<std::map<std::string, double>> whole;
  {
    const auto device = open("by-grid");
    for (const PointSpec& spec : four()) whole.push_back(alone(*device, spec, cancel_));
  }
  const auto expect_whole = [&](const Counted& counted, const std::string& broken) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(counted.records[i].disposition, Disposition::ok) << broken << ": " << counted.records[i].reason;
      EXPECT_EQ(values(counted.records[i]), whole[i]) << broken << ", point " << i;
    }
  };
  for (const std::string broken : {"cupti-push-at=2", "cupti-pop-at=1", "cupti-pop-at=3", "cupti-pop-at=13",
                                   "cupti-stop-at=1", "refuse-in-range=1"}) {
    const auto device = open(("by-grid," + broken).c_str());
    const PointRecord first = device->measure(point(), quick(), cancel_);
    EXPECT_NE(first.disposition, Disposition::ok) << broken;
    EXPECT_EQ(metric(first, metric_key::dram_read_bytes), -1) << broken;
    faults("by-grid");
    expect_whole(count(*device, four()), broken);
  }
  // In the middle of a session with several points: each is then counted alone.
  for (int at = 1; at <= 16; ++at) {
    const auto device = open("by-grid");
    const std::string broken = fmt::format("by-grid,cupti-pop-at={}", at);
    expect_whole(count(*device, four(), broken.c_str()), broken);
  }
}

TEST_F(SharedSessionTest, BusyCountersYieldNoValues) {
  const auto device = open("by-grid");
  const Counted counted = count(*device, fa2_points(3), "by-grid,cupti-start=26");
  EXPECT_EQ(counted.whole, std::vector<bool>(3, true));
  for (const PointRecord& record : counted.records) {
    EXPECT_EQ(record.disposition, Disposition::no_counters);
    EXPECT_EQ(record.reason.id, "counters.busy");
    EXPECT_EQ(metric(record, metric_key::dram_read_bytes), -1);
  }
}

TEST_F(SharedSessionTest, CrashIsAttributedToItsPoint) {
  // A pass has 2 launches per point: the 5th and 6th belong to the third point.
  for (const std::int64_t launch : {5, 6, 8 + 5}) {
    const auto device = open("by-grid");
    const Counted counted = count(*device, fa2_points(4), ("crash-in-range=" + std::to_string(launch)).c_str());
    EXPECT_EQ(counted.whole, (std::vector<bool>{false, false, true, false})) << launch;
    EXPECT_EQ(counted.records[2].disposition, Disposition::crashed);
    EXPECT_THAT(counted.records[2].reason, IsReason("point.failed", "fwd CUDA_ERROR_ILLEGAL_ADDRESS"));
    for (const PointRecord& record : counted.records) EXPECT_EQ(metric(record, metric_key::dram_read_bytes), -1);
    EXPECT_FALSE(device->usable());
  }
}

TEST_F(SharedSessionTest, HangIsAttributedToItsPoint) {
  const auto device = open();
  MeasureOptions options = quick();
  options.timeout = std::chrono::milliseconds(20);
  const Counted counted = count(*device, fa2_points(3), "hang-in-range=3", options);
  EXPECT_EQ(counted.whole, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(counted.records[1].disposition, Disposition::timeout);
  EXPECT_THAT(counted.records[1].reason, IsReason("point.counted_kernel_still_running", "fwd 20 ms"));
  EXPECT_FALSE(device->usable());
}

TEST_F(SharedSessionTest, RejectedLaunchEndsOnlyItsPoint) {
  const auto device = open("by-grid");
  const Counted counted = count(*device, fa2_points(3), "by-grid,refuse-in-range=3");
  EXPECT_EQ(counted.whole, std::vector<bool>(3, true));
  EXPECT_EQ(counted.records[1].disposition, Disposition::infeasible) << counted.records[1].reason;
  EXPECT_EQ(metric(counted.records[1], metric_key::dram_read_bytes), -1);
  EXPECT_EQ(metric(counted.records[0], metric_key::dram_read_bytes), 4096 * 2);
  EXPECT_EQ(metric(counted.records[2], metric_key::dram_read_bytes), 4096 * 6);
  EXPECT_TRUE(device->usable());
}

TEST_F(SharedSessionTest, CancelledSessionCountsNothing) {
  const auto device = open();
  static CancelToken* token = nullptr;
  token = &cancel_;
  attnscope_fake_on_launch([](const char* entry) {
    if (std::string_view(entry) == "attn_read_noise") token->cancel();
  });
  const Counted counted = count(*device, fa2_points(3));
  attnscope_fake_on_launch(nullptr);
  for (const PointRecord& record : counted.records) EXPECT_EQ(metric(record, metric_key::dram_read_bytes), -1);
  EXPECT_EQ(std::ranges::count(counted.whole, true), 1) << "the point in progress";
  EXPECT_TRUE(device->usable());
}

TEST_F(SharedSessionTest, EvictedPointsAreLaidOutAgain) {
  // 32 MiB of S and P each; two points do not fit together.
  const auto device = open("by-grid,free=48000000");
  std::vector<PointSpec> specs(3, point("naive"));
  for (std::size_t i = 0; i < 3; ++i) {
    specs[i].problem.n_q = 2048;
    specs[i].problem.n_k = 2048 - 64 * static_cast<std::int64_t>(i);
    specs[i].cache = CacheState::warm;  // without the noise buffer
  }
  const auto sessions = attnscope_fake_counter_sessions();
  const Counted counted = count(*device, specs);
  EXPECT_EQ(counted.whole, std::vector<bool>(3, true));
  EXPECT_EQ(attnscope_fake_counter_sessions() - sessions, 3 * 2) << "counted separately";
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(counted.records[i].disposition, Disposition::ok) << counted.records[i].reason;
    const PointRecord alone = device->measure(specs[i], quick(), cancel_);
    EXPECT_EQ(metric(counted.records[i], metric_key::dram_read_bytes), metric(alone, metric_key::dram_read_bytes));
  }
}

TEST_F(SharedSessionTest, SessionsRespectRangeCapacity) {
  const auto device = open("by-grid");
  std::vector<PointSpec> specs(16, point("naive"));
  for (PointSpec& spec : specs) spec.problem.pass = Pass::fwd_bwd;  // two ranges per kernel
  (void)device->measure(specs[0], quick(), cancel_);
  const auto sessions = attnscope_fake_counter_sessions();
  const auto configs = attnscope_fake_counter_configs();
  const Counted counted = count(*device, specs);
  EXPECT_EQ(counted.whole, std::vector<bool>(16, true));
  for (const PointRecord& record : counted.records) {
    EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
    EXPECT_EQ(values(record), values(counted.records[0]));
  }
  const std::size_t each = 2 * (counted.records[0].kernels.size() - 1);
  const std::size_t room = gpu::RangeProfiler::min_allocated_ranges / each;
  ASSERT_LT(room, 16U);
  EXPECT_GE(attnscope_fake_counter_sessions() - sessions, static_cast<std::int64_t>(2 * (16 / room + 1)))
      << "two passes per session";
  EXPECT_EQ(attnscope_fake_counter_configs(), configs);
}

// Memory and ranges run out together: a point frees memory while the session's ranges are all taken.
TEST_F(SharedSessionTest, EvictedPointsAreCountedAlone) {
  const auto device = open("by-grid,free=20000000");
  std::vector<PointSpec> specs(16, point("naive"));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    specs[i].problem.pass = Pass::fwd_bwd;
    specs[i].problem.n_q = specs[i].problem.n_k = 512;
    specs[i].problem.d = 64;
    specs[i].cache = CacheState::warm;  // without the noise buffer
  }
  specs.back().problem.n_q = 1024;
  const Counted counted = count(*device, specs);
  EXPECT_EQ(counted.whole, std::vector<bool>(16, true));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ASSERT_EQ(counted.records[i].disposition, Disposition::ok) << i << ": " << text(counted.records[i].reason);
    EXPECT_EQ(values(counted.records[i]), alone(*device, specs[i], cancel_)) << i;
  }
}

TEST_F(SharedSessionTest, SetUpLaunchesRunBeforeCounting) {
  const auto device = open("by-grid");
  PointSpec backward = point("fa2");
  backward.problem.pass = Pass::bwd;
  const double each = metric(device->measure(backward, quick(), cancel_), metric_key::dram_read_bytes);
  EXPECT_GT(each, 0);
  const Counted counted = count(*device, {backward, point(), backward});
  EXPECT_EQ(metric(counted.records[0], metric_key::dram_read_bytes), each);
  EXPECT_EQ(metric(counted.records[2], metric_key::dram_read_bytes), each);
}

TEST_F(SharedSessionTest, SessionsLimitPointsAndMemory) {
  const auto device = open();
  const auto specs = fa2_points(40);
  std::size_t together = 1;
  while (together < 40 && device->can_share_session({specs.data(), together}, specs[together])) ++together;
  EXPECT_EQ(together, 16U);
  PointSpec large = point("naive");
  large.problem.n_q = large.problem.n_k = 8192;  // 2 x 256 MiB of 1 GiB
  EXPECT_FALSE(device->can_share_session({specs.data(), 1}, large));
}

// ---- Failing points -----------------------------------------------------------------------------------------------

TEST_F(FakeDeviceTest, OutputNeverWrittenIsIncorrect) {
  const auto device = open();
  MeasureOptions options = quick();
  options.verify = true;
  const PointRecord record = device->measure(point(), options, cancel_);
  EXPECT_EQ(record.disposition, Disposition::incorrect);
  EXPECT_THAT(record.reason, IsReason("oracle.not_finite", "8192"));
  ASSERT_TRUE(record.max_abs_error);
  EXPECT_TRUE(std::isinf(*record.max_abs_error));
  EXPECT_TRUE(device->usable());
}

TEST_F(FakeDeviceTest, WritePastOutputIsIncorrect) {
  const auto device = open("compute-output,overrun=fa2");
  MeasureOptions options = quick();
  options.verify = true;
  const PointRecord record = device->measure(point(), options, cancel_);
  EXPECT_EQ(record.disposition, Disposition::incorrect);
  EXPECT_THAT(record.reason, IsReason("oracle.overrun", "o"));
}

TEST_F(FakeDeviceTest, CrashNamesTheKernelAndLosesTheDevice) {
  const auto device = open("crash=softmax");
  const PointRecord record = device->measure(point("naive"), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::crashed);
  EXPECT_THAT(record.reason, IsReason("point.failed", "softmax CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_FALSE(device->usable());
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::crashed);
}

TEST_F(FakeDeviceTest, HangEndsInATimeout) {
  const auto device = open("hang=fa2");
  MeasureOptions options = quick();
  options.timeout = std::chrono::milliseconds(20);
  const PointRecord record = device->measure(point(), options, cancel_);
  EXPECT_EQ(record.disposition, Disposition::timeout);
  EXPECT_THAT(record.reason, IsReason("point.kernel_still_running", "fwd 20 ms"));
  EXPECT_FALSE(device->usable());
}

TEST_F(FakeDeviceTest, GpuUnplugged) {
  const auto device = open("lost=fa2");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::crashed);
  EXPECT_EQ(record.reason.id, "point.gpu_gone");
  EXPECT_FALSE(device->usable());
  EXPECT_EQ(device->free_bytes(), 0);
}

TEST_F(FakeDeviceTest, OutOfMemoryReportsNeededAndFree) {
  const auto device = open("free=4000000");
  PointSpec spec = point("naive");
  spec.problem.n_q = spec.problem.n_k = 2048;
  const PointRecord record = device->measure(spec, quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::out_of_memory);
  const auto needed =
      built_in_algorithms().find("naive")->plan(spec.problem, spec.config(), known_gpus().front()).buffer_bytes() +
      noise_bytes;
  EXPECT_THAT(record.reason, IsReason("point.needs_memory", std::to_string(needed)));
  EXPECT_GT(metric(record, metric_key::model_l2_to_sm_bytes), 0);
  EXPECT_TRUE(device->usable());
}

TEST_F(FakeDeviceTest, RecoversFromFailedAllocations) {
  // The first allocation is the L2 fill buffer, the second the clock stamps, the third q.
  const auto device = open("oom-from=3");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::out_of_memory);
  EXPECT_THAT(record.reason, IsReason("point.needs_memory", "fragmented")) << "enough memory is free";
  EXPECT_TRUE(device->usable());
  faults("");
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
}

TEST_F(FakeDeviceTest, RetriesFailedAllocation) {
  const auto device = open("oom-at=3");
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
}

TEST_F(FakeDeviceTest, EarlierBuffersAreFreed) {
  const auto device = open("free=44000000");
  PointSpec naive = point("naive");
  naive.problem.n_q = naive.problem.n_k = 2048;  // 2 x 16 MiB of S and P
  EXPECT_EQ(device->measure(naive, quick(), cancel_).disposition, Disposition::ok);
  PointSpec large = point();
  large.problem.n_q = large.problem.n_k = 30'000;
  const PointRecord record = device->measure(large, quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
}

TEST_F(FakeDeviceTest, CompileErrorIsReported) {
  const auto device = open("compile-error=fa2/");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::compile_error);
  EXPECT_THAT(text(record.reason), HasWords("fa2 fwd d64 64x64 fp16 error as the test asked"));
  EXPECT_EQ(device->measure(point("fa1"), quick(), cancel_).disposition, Disposition::ok);
}

TEST_F(FakeDeviceTest, InfeasibleTileIsNeverLaunched) {
  const auto device = open();
  PointSpec spec = point();
  spec.tile.br = 24;
  const auto launches = attnscope_fake_launches();
  const PointRecord record = device->measure(spec, quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::infeasible);
  EXPECT_FALSE(record.reason.empty());
  EXPECT_EQ(attnscope_fake_launches(), launches);
}

TEST_F(FakeDeviceTest, CancelIsNotFailure) {
  const auto device = open();
  cancel_.cancel();
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::cancelled);
  EXPECT_TRUE(device->usable());
}

// ---- Unavailable counters -----------------------------------------------------------------------------------------

struct CounterFault {
  const char* faults;
  CounterState state;
  const char* code;
  const char* words;  ///< in the fix
};

class CounterFaultTest : public FakeDeviceTest, public ::testing::WithParamInterface<CounterFault> {};

TEST_P(CounterFaultTest, EverythingElseIsMeasured) {
  const CounterFault& fault = GetParam();
  const auto device = open(fault.faults);
  const CounterAvailability counters = device->counters();
  EXPECT_EQ(counters.state, fault.state);
  EXPECT_EQ(counters.reason.id, fault.code) << text(counters.reason);
  EXPECT_THAT(text(counters.fix), HasWords(fault.words));

  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::no_counters);
  EXPECT_THAT(text(record.reason), HasSubstr(text(counters.reason)));
  EXPECT_EQ(record.kernels.front().samples_ns.size(), 3U);
  EXPECT_GT(metric(record, metric_key::theoretical_occupancy_pct), 0);
  EXPECT_GT(metric(record, metric_key::model_l2_to_sm_bytes), 0);
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), -1);

  MeasureOptions not_requested = quick();
  not_requested.counters = false;
  EXPECT_EQ(device->measure(point(), not_requested, cancel_).disposition, Disposition::ok);
}

INSTANTIATE_TEST_SUITE_P(
    Causes, CounterFaultTest,
    ::testing::Values(CounterFault{"cupti-availability=35", CounterState::not_permitted, "counters.no_permission", ""},
                      CounterFault{"cupti-availability=40", CounterState::not_permitted, "counters.hypervisor", "vGPU"},
                      CounterFault{"vgpu", CounterState::not_permitted, "counters.hypervisor", "vGPU"},
                      CounterFault{"cupti-availability=26", CounterState::busy, "counters.busy", "dcgmi"},
                      CounterFault{"cupti-enable=39", CounterState::busy, "counters.another_tool", "compute-sanitizer"},
                      CounterFault{"cupti-enable=43", CounterState::unsupported, "counters.mig", "-mig 0"},
                      CounterFault{"cupti-init=999", CounterState::unsupported, "counters.not_started", ""},
                      CounterFault{"cupti-version=120600", CounterState::not_installed, "", "CUDA 13"}));

TEST_F(FakeDeviceTest, CountersTakenByAnotherProcessInMidSweep) {
  const auto device = open();
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
  faults("cupti-start=26");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::no_counters);
  EXPECT_EQ(record.reason.id, "counters.busy");
  faults("");
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
}

TEST_F(FakeDeviceTest, CountersThatCannotBeDecoded) {
  const auto device = open("cupti-decode=8");
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::no_counters);
  faults("");
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
}

TEST_F(FakeDeviceTest, MissingCounterIsReported) {
  for (const char* counter : {"l1tex__m_xbar2l1tex_read_bytes", "dram__bytes_write.sum"}) {
    const auto device = open();
    faults((std::string("no-value=") + counter).c_str());
    const PointRecord record = device->measure(point(), quick(), cancel_);
    EXPECT_EQ(record.disposition, Disposition::no_counters);
    EXPECT_THAT(text(record.reason), HasSubstr(counter));
    EXPECT_EQ(metric(record, metric_key::dram_read_bytes), -1) << "partial counts must not be reported";
    EXPECT_EQ(record.kernels.front().samples_ns.size(), 3U);
    faults("");
    EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
  }
  // A ratio has no value if nothing happened.
  const auto device = open("no-value=sm__warps_active");
  EXPECT_EQ(device->measure(point(), quick(), cancel_).disposition, Disposition::ok);
}

// ---- Kernel cache -------------------------------------------------------------------------------------------------

TEST_F(FakeDeviceTest, PreparedKernelsAreCompiledOnce) {
  const auto device = open();
  PointSpec longer = point();
  longer.problem.n_q = 128;  // same kernel
  const std::vector<PointSpec> points{point(), longer, point("naive")};
  std::vector<std::string> built;
  std::size_t total = 0;
  device->prepare(points, cancel_, [&](std::size_t done, std::size_t of, const BuildReport& report) {
    built.push_back(report.kernel);
    EXPECT_EQ(done, built.size());
    total = of;
  });
  EXPECT_EQ(total, 4U);
  std::ranges::sort(built);
  EXPECT_THAT(built, ElementsAre(HasSubstr("fa2 fwd"), HasSubstr("naive pv"), HasSubstr("naive qk"),
                                 HasSubstr("naive softmax")));
  const auto compilations = attnscope_fake_compilations();
  (void)device->measure(point(), quick(), cancel_);
  EXPECT_EQ(attnscope_fake_compilations(), compilations);
}

TEST_F(FakeDeviceTest, FailingKernelIsCompiledOnceForAllItsPoints) {
  const auto device = open("compile-error=fa2/");
  const auto compilations = attnscope_fake_compilations();
  PointSpec longer = point();
  longer.problem.n_q = 128;  // same kernel
  const std::vector<PointSpec> points{point(), longer};
  device->prepare(points, cancel_, {});
  for (const PointSpec& each : points) {
    const PointRecord record = device->measure(each, quick(), cancel_);
    EXPECT_EQ(record.disposition, Disposition::compile_error);
    EXPECT_THAT(text(record.reason), HasWords("as the test asked"));
  }
  EXPECT_EQ(attnscope_fake_compilations(), compilations + 1);
}

TEST_F(FakeDeviceTest, DriverRejectsCubin) {
  const auto device = open();
  faults("refuse-module=9");
  const PointRecord record = device->measure(point(), quick(), cancel_);
  EXPECT_EQ(record.disposition, Disposition::compile_error);
  EXPECT_THAT(record.reason, IsReason("point.cubin_refused", "CUDA 13.0 NVRTC sm_90a"));
}

// ---- Doctor -------------------------------------------------------------------------------------------------------

std::map<std::string, DoctorCheck> checks(int ordinal = 0) {
  std::map<std::string, DoctorCheck> map;
  for (const DoctorCheck& check : check_gpu(ordinal)) map[check.name] = check;
  return map;
}

TEST_F(FakeDeviceTest, DoctorOnAHealthyMachine) {
  auto found = checks();
  for (const char* name : {"driver", "device", "NVRTC", "CUPTI", "counters", "NVML", "clocks", "cubin cache"}) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_TRUE(found[name].ok) << name << ": " << found[name].detail;
    EXPECT_EQ(found[name].fix, "") << name;
  }
}

TEST_F(FakeDeviceTest, DoctorNamesTheFix) {
  faults("cupti-availability=35,throttle=4");
  auto found = checks();
  EXPECT_TRUE(found["device"].ok);
  EXPECT_FALSE(found["counters"].ok);
  EXPECT_NE(found["counters"].fix, "");
  EXPECT_FALSE(found["clocks"].ok);
  EXPECT_THAT(found["clocks"].detail, HasSubstr(text(msg::throttle::power_cap{})));
}

TEST_F(FakeDeviceTest, DoctorWithNothingInstalled) {
  for (const char* variable : libraries) setenv(variable, "/nonexistent/library.so", 1);
  auto found = checks();
  for (const char* name : {"driver", "NVRTC", "CUPTI", "NVML"}) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_FALSE(found[name].ok) << name;
    EXPECT_NE(found[name].fix, "") << name;
  }
  for (const char* name : {"device", "counters", "clocks"}) EXPECT_FALSE(found.contains(name)) << name;
}

TEST_F(FakeDeviceTest, DoctorWithInvalidOrdinal) {
  auto found = checks(7);
  EXPECT_TRUE(found["driver"].ok);
  EXPECT_FALSE(found["device"].ok);
  EXPECT_THAT(found["device"].fix, HasSubstr("nvidia-smi -L"));
  EXPECT_FALSE(found.contains("counters"));
}

TEST_F(FakeDeviceTest, DoctorWithEveryGpuHidden) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  faults("init=100");
  auto found = checks();
  EXPECT_FALSE(found["device"].ok);
  EXPECT_THAT(found["device"].detail, HasSubstr("CUDA_VISIBLE_DEVICES=''"));
}

TEST_F(FakeDeviceTest, DoctorSeesACompilerNewerThanTheDriver) {
  faults("driver=12040");
  auto found = checks();
  EXPECT_FALSE(found["NVRTC"].ok);
  EXPECT_THAT(found["NVRTC"].detail, AllOf(HasSubstr("NVRTC 13.0"), HasSubstr("CUDA 12.4")));
}

}  // namespace
}  // namespace attnscope
