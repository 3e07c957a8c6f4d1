// SPDX-License-Identifier: Apache-2.0
// A GPU with its counters below the Device interface, for tests that launch kernels outside a plan.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/driver/nvrtc.h"
#include "profiler/measure/gpu/gpu_device.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

/// Device 0. Members are declared in order of construction.
class BareGpu {
 public:
  BareGpu(const BareGpu&) = delete;
  BareGpu& operator=(const BareGpu&) = delete;

  /// Returns an error if there is no GPU or no counters.
  [[nodiscard]] static Result<std::unique_ptr<BareGpu>, Message> open() {
    auto cuda = start_driver();
    if (!cuda) return Failure{cuda.error().message()};
    auto builder = KernelBuilder::open();
    if (!builder) return Failure{builder.error().message()};
    auto cupti = CuptiApi::load();
    if (!cupti) return Failure{cupti.error()};
    try {
      std::unique_ptr<BareGpu> gpu(
          new BareGpu(std::move(cuda).value(), std::move(builder).value(), std::move(cupti).value()));
      gpu->reset_counters();
      return gpu;
    } catch (const std::exception& error) {
      return Failure{Message::verbatim(error.what())};
    }
  }

  [[nodiscard]] const CudaApi& cuda() const { return cuda_; }
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  [[nodiscard]] KernelRunner& runner() { return runner_; }
  [[nodiscard]] const KernelBuilder& builder() const { return *builder_; }
  [[nodiscard]] std::string arch() const { return arch_for(limits_.compute_major, limits_.compute_minor); }
  void build(std::span<const KernelLaunch> launches) const {
    (void)builder_->build_all(arch_for(limits_.compute_major, limits_.compute_minor), launches, 0, cancel_, {});
  }
  [[nodiscard]] CounterCollector& counters() { return *counters_; }

  /// Creates the counter collector. Throws CuptiError.
  void reset_counters() { counters_.emplace(cupti_, context_.get(), device_, limits_.compute_major); }

  /// Counts launches from a cold L2, including their write-back.
  [[nodiscard]] std::map<std::string, std::vector<MetricValue>> count_cold(std::span<PreparedLaunch> launches) {
    const std::vector<std::span<PreparedLaunch>> one{launches};
    return std::move(count_cold_together(one).front().values);
  }
  /// Like count_cold(), for several points in one session.
  [[nodiscard]] std::vector<PointCounts> count_cold_together(std::span<const std::span<PreparedLaunch>> points) {
    if (!noise_) {
      noise_ = allocate(cuda_, runner_.noise_bytes());
      runner_.enqueue_store_noise(noise_.get(), runner_.noise_bytes());
    }
    std::vector<CountedPoint> counted;
    for (const std::span<PreparedLaunch> launches : points) {
      counted.push_back({.launches = launches, .cache = CacheState::cold, .write_back = [this] {
                           runner_.enqueue_write_back(noise_.get());
                         }});
    }
    return counters_->collect(runner_, counted, CountingRequest{}, cancel_);
  }

 private:
  BareGpu(CudaApi cuda, std::unique_ptr<KernelBuilder> builder, CuptiApi cupti)
      : cuda_(std::move(cuda)),
        cupti_(std::move(cupti)),
        builder_(std::move(builder)),
        device_(first_device(cuda_)),
        limits_(device_limits(cuda_, device_)),
        context_(cuda_, device_),
        stream_(make_stream(cuda_)),
        runner_(cuda_, *builder_, arch_for(limits_.compute_major, limits_.compute_minor), stream_.get(), limits_) {}

  static CUdevice first_device(const CudaApi& cuda) {
    CUdevice device = 0;
    cuda.check(cuda.cuDeviceGet(&device, 0), "cuDeviceGet");
    return device;
  }

  CudaApi cuda_;
  CuptiApi cupti_;
  std::unique_ptr<KernelBuilder> builder_;
  CUdevice device_;
  DeviceLimits limits_;
  Context context_;
  Stream stream_;
  KernelRunner runner_;
  DeviceMemory noise_;
  std::optional<CounterCollector> counters_;
  CancelToken cancel_;
};

/// A plan's buffers and its launches, ready to run. Buffers without contents hold zeros, which do not affect counters.
class PreparedPlan {
 public:
  PreparedPlan(BareGpu& gpu, AttentionPlan plan) : plan_(std::move(plan)) {
    for (const BufferSpec& buffer : plan_.buffers) {
      buffers_.emplace(buffer.name, allocate(gpu.cuda(), buffer.bytes));
      gpu.cuda().check(gpu.cuda().cuMemsetD8Async(buffers_.at(buffer.name).get(), 0,
                                                  static_cast<std::size_t>(buffer.bytes), gpu.runner().stream()),
                       "cuMemsetD8Async");
      if (!buffer.contents) continue;
      gpu.cuda().check(gpu.cuda().cuMemcpyHtoDAsync(buffers_.at(buffer.name).get(), buffer.contents->bytes().data(),
                                                    buffer.contents->bytes().size(), gpu.runner().stream()),
                       "cuMemcpyHtoDAsync");
    }
    for (const KernelLaunch& launch : plan_.launches) {
      if (launch.setup) continue;
      launches_.emplace_back(gpu.cuda(), launch, gpu.runner().load(launch),
                             [&](const std::string& buffer) { return buffers_.at(buffer).get(); });
    }
    gpu.runner().wait(std::chrono::seconds(10));
  }

  [[nodiscard]] std::span<PreparedLaunch> launches() { return launches_; }
  [[nodiscard]] CUdeviceptr address(const std::string& buffer) const { return buffers_.at(buffer).get(); }

 private:
  AttentionPlan plan_;
  std::map<std::string, DeviceMemory> buffers_;
  std::vector<PreparedLaunch> launches_;
};

/// Returns a plan with one launch that stores `bytes` (a multiple of 128) of noise, each byte once.
[[nodiscard]] inline AttentionPlan plain_stores(const DeviceLimits& limits, std::int64_t bytes) {
  AttentionPlan plan;
  plan.buffers = {{.name = "target", .bytes = bytes}};
  KernelLaunch launch;
  launch.name = "store";
  launch.source = {.file = "device/measurement.cuh", .entry = "attn_fill_l2", .defines = {}};
  launch.grid = {static_cast<std::uint32_t>(8 * limits.sm_count), 1, 1};
  launch.block = {256, 1, 1};
  launch.arguments = {BufferArgument{"target"}, bytes};
  plan.launches = {std::move(launch)};
  return plan;
}

}  // namespace attnscope::gpu
