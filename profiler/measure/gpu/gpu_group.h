// SPDX-License-Identifier: Apache-2.0
// GPUs of one machine that share a problem: the device's GPU first, then others of its kind in driver order. Each GPU
// has a stream for launches and one for copies; events express the dependencies.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/ceilings.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/plan/point_spec.h"

namespace attnscope::gpu {

class GpuGroup {
 public:
  /// The caller's GPU. Its resources must outlive the group.
  struct First {
    CUdevice device;
    const Context& context;
    CUstream stream;
    KernelRunner& runner;
  };
  GpuGroup(const CudaApi& cuda, const KernelBuilder& builder, std::string arch, const DeviceLimits& limits,
           const First& first);
  GpuGroup(const GpuGroup&) = delete;
  GpuGroup& operator=(const GpuGroup&) = delete;
  ~GpuGroup();

  /// Opens `gpus` GPUs with peer access to each other. Throws PointAbort (infeasible: too few GPUs of this kind, or no
  /// peer access) and DriverError.
  void open(int gpus);
  /// Allocates buffers on the other GPUs and prepares launches and copies. `address_of` resolves buffers on the first
  /// GPU. Keeps a reference to the plan. Throws PointAbort (out_of_memory) and the errors of KernelRunner::load(). Pre:
  /// open().
  void prepare(const AttentionPlan& plan, const std::vector<BufferSpec>& others, const BufferResolver& address_of);
  /// Copies inputs to the other GPUs.
  void distribute(std::chrono::milliseconds limit);
  void gather(std::chrono::milliseconds limit);
  /// Runs the schedule once, with cold L2 on all GPUs if `cache` requires it. Throws DriverError and LaunchTimeout.
  ScheduleTimes run(CacheState cache, std::chrono::milliseconds limit);
  void release();
  /// Measures copies between the first two GPUs: peer_copy, peer_copy_both_ways, peer_copy_latency. Pre: two GPUs are
  /// open.
  [[nodiscard]] std::vector<Ceiling> links(int rounds, std::chrono::milliseconds limit);

  /// UUIDs of the first `gpus` GPUs without the first one.
  [[nodiscard]] std::vector<std::string> uuids(int gpus) const { return {uuids_.begin(), uuids_.begin() + gpus - 1}; }
  /// Returns false if a context has a sticky error.
  [[nodiscard]] bool usable() const;

 private:
  struct Gpu;
  struct Prepared {
    const Operation* operation = nullptr;
    std::unique_ptr<PreparedLaunch> launch;  ///< Null for a copy.
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    Event begin;
    Event end;
  };

  [[nodiscard]] Prepared prepared(const Operation& operation, const AttentionPlan& plan,
                                  const std::vector<BufferSpec>& others, const BufferResolver& address_of);
  [[nodiscard]] CUstream stream_of(const Operation& operation) const;
  void enqueue(Prepared& each);
  void copy(const Prepared& each, CUstream stream) const;
  void run_copies(std::vector<Prepared>& copies, std::chrono::milliseconds limit);
  void wait(CUstream stream, CUevent event) const;
  /// Scope guard that makes the first GPU's context current.
  class FirstContextGuard;
  /// Creates the resources of a GPU. Throws PointAbort with its UUID.
  [[nodiscard]] std::unique_ptr<Gpu> make_gpu(CUdevice device) const;
  void enable_peer_access(const Gpu& one, const Gpu& other) const;
  /// Waits for an event. After a timeout it queries all GPUs, since a fault of one GPU does not stop the others.
  void wait_for(const Event& event, std::chrono::milliseconds limit) const;
  /// Time in ns of a copy of `bytes` between the first two GPUs, or of two simultaneous copies if `both_ways`.
  /// `from_to`: source, target, source, target.
  [[nodiscard]] double copy_ns(std::size_t bytes, bool both_ways, const std::array<CUdeviceptr, 4>& from_to,
                               std::chrono::milliseconds limit);

  const CudaApi& cuda_;
  const KernelBuilder& builder_;
  std::string arch_;
  const DeviceLimits& limits_;
  First first_;
  std::vector<std::unique_ptr<Gpu>> gpus_;  ///< Includes the first GPU.
  std::vector<std::string> uuids_;
  const Schedule* schedule_ = nullptr;
  std::vector<Prepared> distribute_;
  std::vector<Prepared> operations_;
  std::vector<Prepared> gather_;
  Event begin_;
  Event end_;
};

}  // namespace attnscope::gpu
