// SPDX-License-Identifier: Apache-2.0
// Python functions on a fake GPU (fake/fake_gpu.h).
#include "profiler/measure/gpu/user/python_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fake_graphs.h"
#include "kernels/registry.h"
#include "kernels/user/user_kernel.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/metrics/metrics.h"
#include "tests/gpu/seam/attention_function.h"
#include "tests/message_matchers.h"
#include "tests/temporary_folder.h"

namespace attnscope {
namespace {

using test::compute_attention;
using test::FunctionCall;
using test::HasWords;
using test::IsReason;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t rows = FunctionCall::rows;
constexpr std::int64_t matrix_bytes = FunctionCall::matrix_bytes;

class PythonCallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : libraries) setenv(variable, ATTNSCOPE_FAKE_GPU_LIBRARY, 1);
    setenv("ATTNSCOPE_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    std::ofstream(folder_ / "own.py") << "def flash(q, k, v): ...\n";
    gpu::set_python_functions(&test::AttentionFunction::table());
    options_.min_samples = options_.max_samples = 3;
  }
  void TearDown() override {
    device_.reset();
    gpu::set_python_functions(nullptr);
    for (const char* variable : libraries) unsetenv(variable);
    unsetenv("ATTNSCOPE_CACHE_DIR");
    unsetenv("ATTNSCOPE_FAKE_GPU");
  }

  PointRecord measure(Pass pass = Pass::fwd, const std::string& manifest_fields = "") {
    device_.reset();
    registry_ = Registry();
    auto kernel = user::make_kernel(R"({"attnscope_kernel": 1, "name": "own", "source": "own.py",
      "supports": {"dtype": ["fp16"], "d": [16], "pass": ["fwd", "bwd"]}, )" +
                                        manifest_fields + R"("launches": [{"entry": "flash", "pass": "fwd"},
                                                                         {"entry": "flash", "pass": "bwd"}]})",
                                    folder_ / "own.json");
    if (!kernel) throw std::runtime_error(text(kernel.error()));
    registry_.add(std::move(kernel).value());
    auto device = open_gpu_device({}, registry_);
    if (!device) throw std::runtime_error(text(device.error().message()));
    device_ = std::move(device).value();
    PointSpec spec{.algorithm = "own", .problem = {}, .tile = {}};
    spec.problem = FunctionCall::problem(pass);
    spec.set_config(registry_.find("own")->default_config(spec.problem, device_->info().limits));
    return device_->measure(spec, options_, {});
  }
  PointRecord measure_ok(Pass pass = Pass::fwd, const std::string& manifest_fields = "") {
    PointRecord record = measure(pass, manifest_fields);
    EXPECT_EQ(record.disposition, Disposition::ok) << record.reason;
    return record;
  }
  /// Measures the function, which must be incorrect, and returns the reason.
  Message reason(Pass pass = Pass::fwd) {
    const PointRecord record = measure(pass);
    EXPECT_EQ(record.disposition, Disposition::incorrect) << record.reason;
    EXPECT_TRUE(device_->usable());
    return record.reason;
  }
  static double metric(const PointRecord& record, std::string_view name, std::string_view kernel = "all") {
    const KernelRecord* const found = record.kernel(kernel);
    return found != nullptr ? found->metric(name).value_or(-1) : -2;
  }
  /// Three samples of so many launches.
  static auto has_launches(int launches) {
    return AllOf(SizeIs(3), Each(DoubleNear(10'010 * launches, 15 * launches)));
  }
  static std::vector<std::string> names(const PointRecord& record) {
    std::vector<std::string> all;
    for (const KernelRecord& each : record.kernels) all.push_back(each.kernel);
    return all;
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  const testing::TemporaryFolder folder_;
  test::AttentionFunction function_;
  Registry registry_;
  MeasureOptions options_;
  std::unique_ptr<Device> device_;
};

TEST_F(PythonCallTest, OneKernel) {
  function_.plan.host_ns = 31'000;
  const PointRecord record = measure_ok(Pass::fwd, R"("knobs": {"num_warps": {"values": [4, 8], "means": "warps"}}, )");
  EXPECT_TRUE(record.reason.empty()) << record.reason;
  ASSERT_TRUE(record.max_abs_error && record.error_bound);
  EXPECT_LE(*record.max_abs_error, *record.error_bound);
  ASSERT_THAT(names(record), ElementsAre("all"));
  EXPECT_THAT(record.kernels[0].samples_ns, has_launches(1));
  ASSERT_TRUE(record.kernels[0].launch);
  const LaunchRecord& launch = *record.kernels[0].launch;
  EXPECT_EQ(launch.entry, "attention");
  EXPECT_THAT(launch.grid, ElementsAre(5, 1, 1));
  EXPECT_EQ(launch.threads, 128);
  EXPECT_EQ(launch.registers, 128);
  EXPECT_EQ(launch.static_shared_bytes, 256);
  EXPECT_EQ(metric(record, metric_key::registers), 128);
  EXPECT_GT(metric(record, metric_key::theoretical_occupancy_pct), 0);
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), 4096);
  EXPECT_EQ(metric(record, metric_key::dram_read_in_sequence), -1) << "equal to dram_read_bytes";
  EXPECT_EQ(metric(record, metric_key::host_call_ns), 31'000);
  EXPECT_EQ(metric(record, metric_key::memory_bytes), 4 * matrix_bytes) << "the function allocates O, no other memory";

  EXPECT_EQ(function_.place, (folder_ / "own.py").string() + ":flash");
  EXPECT_EQ(function_.problem.n_k, rows);
  EXPECT_EQ(function_.problem.q.row, FunctionCall::d);
  EXPECT_EQ(function_.problem.scale, 0.25);
  EXPECT_EQ(function_.problem.knob_count, 1);
}

TEST_F(PythonCallTest, SeveralKernels) {
  setenv("ATTNSCOPE_FAKE_GPU", "by-grid", 1);
  bool zeroed = false;
  int early = 0;  // launches without the counter that an earlier kernel resets
  function_.captured = function_.work = [&](FunctionCall& call, CUstream stream) {
    cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(call.result()), 0, matrix_bytes, stream);
    fake::launch(
        stream, "_ZN2at6native7softmaxIfEEvPf", [&] { zeroed = true; }, 3);
    for (const std::int64_t head : {0, 1}) {
      const auto compute = [&zeroed, &early, &call, head] {
        if (!zeroed) ++early;
        call.compute(head, head + 1);
        if (head == 1) zeroed = false;
      };
      fake::launch(stream, "head", compute, 4);
    }
    fake::launch(
        stream, "_ZN2at6native7softmaxIdEEvPd", [] {}, 2);
  };
  const PointRecord record = measure_ok();
  const std::string softmax = "at::native::softmax";
  ASSERT_THAT(names(record), UnorderedElementsAre("all", "memset", softmax, "head x2", softmax + " (2)"));
  EXPECT_EQ(early, 0);
  const auto expect = [&](const std::string& kernel, int launches, int blocks) {
    SCOPED_TRACE(kernel);
    EXPECT_THAT(record.kernel(kernel)->samples_ns, has_launches(launches));
    EXPECT_EQ(metric(record, metric_key::dram_read_bytes, kernel), 4096 * blocks);
    EXPECT_EQ(metric(record, metric_key::dram_read_in_sequence, kernel), kernel == "all" ? -1 : 4096 * blocks);
  };
  expect("all", 4, 13);
  expect("memset", 0, 0);
  expect(softmax, 1, 3);
  expect("head x2", 2, 8);
  expect(softmax + " (2)", 1, 2);
  ASSERT_TRUE(record.kernel("head x2")->launch);
  EXPECT_THAT(record.kernel("head x2")->launch->grid, ElementsAre(4, 1, 1));
  EXPECT_EQ(record.kernel(softmax)->launch->entry, "_ZN2at6native7softmaxIfEEvPf");
  EXPECT_FALSE(record.kernel("memset")->launch);
  EXPECT_EQ(metric(record, metric_key::registers, "memset"), -1);
  EXPECT_EQ(metric(record, metric_key::registers), 128);
}

TEST_F(PythonCallTest, TileOfTheAutotuner) {
  function_.plan.br = 16;
  function_.plan.bc = 16;
  function_.captured = [](FunctionCall& call, CUstream stream) {
    for (const char* kernel : {"pad", "scale", "shift"}) fake::launch(stream, kernel, [] {});
    compute_attention(call, stream);
  };
  const PointRecord record = measure_ok(Pass::fwd, R"("tile": "tuned", "law": {"like": "fa2", "lse": true}, )");
  EXPECT_EQ(metric(record, metric_key::tuned_br), 16);
  EXPECT_EQ(metric(record, metric_key::tuned_bc), 16);
  // Q once, K and V once per tile of 16 rows.
  EXPECT_EQ(metric(record, metric_key::model_l2_to_sm_bytes), matrix_bytes * (1 + 2 * rows / 16));
  EXPECT_EQ(metric(record, metric_key::model_sm_to_l2_bytes), matrix_bytes + FunctionCall::heads * rows * 4);

  function_.plan.bc = 8;
  const PointRecord other = measure_ok(Pass::fwd, R"("tile": "tuned", "law": {"like": "fa2"}, )");
  EXPECT_THAT(text(other.reason), HasWords("fa2 16 8"));
  EXPECT_EQ(metric(other, metric_key::tuned_bc), 8);
  EXPECT_EQ(metric(other, metric_key::model_l2_to_sm_bytes), -1) << "the law does not apply to this tile";
}

TEST_F(PythonCallTest, BackwardRunsTheForwardPassBefore) {
  function_.plan.saved_bytes = 5 * matrix_bytes;
  const PointRecord record = measure_ok(Pass::bwd);
  ASSERT_THAT(names(record), ElementsAre("all"));
  EXPECT_EQ(record.kernels[0].launch->entry, "gradients");
  EXPECT_THAT(record.kernels[0].samples_ns, has_launches(1));
  EXPECT_EQ(metric(record, metric_key::saved_bytes), 5 * matrix_bytes);
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), 4096) << "without the forward pass";
  EXPECT_EQ(metric(record, metric_key::memory_bytes), 8 * matrix_bytes);
}

TEST_F(PythonCallTest, ForwardAndBackward) {
  function_.plan.host_ns = 20'000;
  function_.captured = [](FunctionCall& call, CUstream stream) {
    fake::launch(stream, "delta", [] {});
    if (call.is_backward()) fake::launch(stream, "zeros", [] {});
    compute_attention(call, stream);
  };
  const PointRecord record = measure_ok(Pass::fwd_bwd);
  ASSERT_THAT(names(record), ElementsAre("all", "fwd", "bwd"));
  EXPECT_THAT(record.kernel("fwd")->samples_ns, has_launches(2));
  EXPECT_THAT(record.kernel("bwd")->samples_ns, has_launches(3));
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes, "fwd"), 2 * 4096);
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes, "bwd"), 3 * 4096);
  EXPECT_EQ(metric(record, metric_key::host_call_ns), 40'000);
  EXPECT_EQ(metric(record, metric_key::memory_bytes), 8 * matrix_bytes);

  function_.captured = [](FunctionCall& call, CUstream stream) {
    call.is_backward() ? (void)fake::launch(stream, "idle", [] {}) : compute_attention(call, stream);
  };
  EXPECT_THAT(reason(Pass::fwd_bwd), IsReason("point.work_not_captured", "flash"));
}

TEST_F(PythonCallTest, PeakMemoryIsCounted) {
  function_.work = [](FunctionCall& call, CUstream stream) {
    void* const scores = call.allocate(5000);
    void* const weights = call.allocate(300);
    compute_attention(call, stream);
    call.free(scores);
    call.free(weights);
  };
  const PointRecord record = measure_ok();
  EXPECT_EQ(metric(record, metric_key::memory_bytes), 4 * matrix_bytes + 5300);
}

TEST_F(PythonCallTest, CallsWithoutCapture) {
  function_.captured = nullptr;
  function_.plan.note = "not captured: the function synchronizes";
  const PointRecord record = measure_ok();
  EXPECT_THAT(record.reason, IsReason("point.function_note", "flash not captured the function synchronizes"));
  ASSERT_THAT(names(record), ElementsAre("all"));
  EXPECT_THAT(record.kernels[0].samples_ns, has_launches(1));
  EXPECT_EQ(metric(record, metric_key::dram_read_bytes), 4096);
}

TEST_F(PythonCallTest, GraphWithoutKernels) {
  function_.captured = [](FunctionCall&, CUstream) {};
  EXPECT_THAT(reason(), IsReason("point.no_kernel", "flash fwd"));
}

TEST_F(PythonCallTest, WorkThatWasNotCaptured) {
  function_.captured = [](FunctionCall&, CUstream stream) { fake::launch(stream, "idle", [] {}); };
  const std::string not_finite = std::to_string(matrix_bytes / 2);
  EXPECT_THAT(reason(), IsReason("point.work_not_captured", "flash " + not_finite));
}

TEST_F(PythonCallTest, SkippedHeadIsNotHiddenByEarlierCalls) {
  int calls = 0;
  function_.work = [&](FunctionCall& call, CUstream stream) {
    const std::int64_t end_head = calls++ == 0 ? FunctionCall::heads : 1;
    fake::launch(stream, "attention", [&call, end_head] { call.compute(0, end_head); });
  };
  function_.captured = function_.work;
  EXPECT_THAT(reason(), IsReason("oracle.not_finite", std::to_string(FunctionCall::head_bytes / 2)));
}

TEST_F(PythonCallTest, ResultsOfEarlierInputs) {
  std::vector<unsigned char> kept;
  function_.captured = [&](FunctionCall& call, CUstream stream) {
    fake::launch(stream, "attention", [&] {
      if (kept.empty()) {
        call.compute();
        kept.assign(call.result(), call.result() + matrix_bytes);
      }
      std::ranges::copy(kept, call.result());
    });
  };
  EXPECT_THAT(reason(), IsReason("point.stale_output", ""));
}

TEST_F(PythonCallTest, WriteBeyondATensor) {
  function_.captured = [](FunctionCall& call, CUstream stream) {
    fake::launch(stream, "attention", [&call] {
      call.compute();
      call.result()[matrix_bytes] = 0;
    });
  };
  EXPECT_THAT(reason(), IsReason("point.tensor_overrun", std::to_string(matrix_bytes)));
}

TEST_F(PythonCallTest, StatusOfPrepareIsTheDisposition) {
  for (const auto& [status, disposition] :
       std::map<int, Disposition>{{ATTNSCOPE_UNSUPPORTED, Disposition::infeasible},
                                  {ATTNSCOPE_OUT_OF_MEMORY, Disposition::out_of_memory},
                                  {ATTNSCOPE_INCORRECT, Disposition::incorrect},
                                  {ATTNSCOPE_ERROR, Disposition::crashed}}) {
    function_.status = status;
    function_.error = "ValueError: status " + std::to_string(status) + " (own.py:1)";
    const PointRecord record = measure();
    EXPECT_EQ(record.disposition, disposition);
    EXPECT_EQ(text(record.reason), function_.error);
    EXPECT_TRUE(device_->usable());
  }
  function_.status = ATTNSCOPE_OK;
  EXPECT_EQ(measure().disposition, Disposition::ok);
}

TEST_F(PythonCallTest, ErrorOfALaterCall) {
  function_.captured = nullptr;
  int calls = 0;
  function_.error = "RuntimeError: too many calls";
  function_.work = [&](FunctionCall& call, CUstream stream) {
    compute_attention(call, stream);
    if (++calls == 5) function_.status = ATTNSCOPE_ERROR;
  };
  const PointRecord record = measure();
  EXPECT_EQ(record.disposition, Disposition::crashed);
  EXPECT_EQ(text(record.reason), function_.error);
  EXPECT_TRUE(device_->usable());
}

TEST_F(PythonCallTest, PrepareThatHangsTimesOut) {
  std::promise<void> end;
  std::promise<void> ended;
  function_.status = ATTNSCOPE_ERROR;
  function_.at_prepare = [&] {
    end.get_future().wait();
    ended.set_value_at_thread_exit();
  };
  options_.timeout = std::chrono::milliseconds(30);
  const PointRecord record = measure();
  EXPECT_EQ(record.disposition, Disposition::timeout);
  EXPECT_THAT(record.reason, IsReason("point.function_still_running", "flash 120 ms"));
  EXPECT_FALSE(device_->usable());
  end.set_value();
  ended.get_future().wait();
}

TEST_F(PythonCallTest, ProcessWithoutThePackage) {
  gpu::set_python_functions(nullptr);
  const PointRecord record = measure();
  EXPECT_EQ(record.disposition, Disposition::compile_error);
  EXPECT_THAT(record.reason, IsReason("point.no_python", "flash"));
}

TEST_F(PythonCallTest, DriverWithoutGraphs) {
  std::string library = testing::content(ATTNSCOPE_FAKE_GPU_LIBRARY);
  const std::string name("\0cuGraphClone\0", 14);
  ASSERT_NE(library.find(name), std::string::npos);
  for (std::size_t at = 0; (at = library.find(name, at)) != std::string::npos; ++at) library[at + 3] = 'g';
  const std::filesystem::path old = folder_ / "libcuda_old.so";
  std::ofstream(old, std::ios::binary) << library;
  setenv("ATTNSCOPE_CUDA_LIBRARY", old.c_str(), 1);
  const PointRecord record = measure();
  EXPECT_EQ(record.disposition, Disposition::infeasible);
  EXPECT_THAT(record.reason, IsReason("point.no_graphs", "12.4 13.0"));
}

}  // namespace
}  // namespace attnscope
