// SPDX-License-Identifier: Apache-2.0
// GPUs of one machine that share a problem: the device's own and, after it, others of its kind in the driver's order.
// Each launches on a stream of its own and sends by its copy engines on another; what waits for what are events.
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
  /// The GPU that is there already; all of it has to outlive the group.
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

  /// So many GPUs that reach each other's memory. Throws PointEnd (infeasible: too few of the kind, or no peer access)
  /// and DriverError.
  void open(int gpus);
  /// Buffers on the other GPUs, and launches and copies ready to run. `address_of` knows those of the first one. Keeps
  /// a reference to the plan. Throws PointEnd (out_of_memory) and what loading a kernel does. Pre: open().
  void prepare(const AttentionPlan& plan, const std::vector<BufferSpec>& others,
               const PreparedLaunch::Resolve& address_of);
  /// Inputs to the GPUs that share them; outputs back to the first one.
  void distribute(std::chrono::milliseconds limit);
  void gather(std::chrono::milliseconds limit);
  /// Once, from where nobody holds anything in L2 if `cache` says so. Throws DriverError and LaunchTimeout.
  ScheduleTimes run(CacheState cache, std::chrono::milliseconds limit);
  /// What the schedule's launches and copies hold is given back.
  void release();
  /// What a copy between the first two GPUs takes: peer_copy, peer_copy_both_ways, peer_copy_latency. Pre: two are
  /// open.
  [[nodiscard]] std::vector<Ceiling> links(int rounds, std::chrono::milliseconds limit);

  /// Of those of `gpus` beside the first one.
  [[nodiscard]] std::vector<std::string> uuids(int gpus) const { return {uuids_.begin(), uuids_.begin() + gpus - 1}; }
  /// Whether none of the contexts holds an error for good.
  [[nodiscard]] bool usable() const;

 private:
  struct Gpu;
  struct Prepared {
    const Operation* operation = nullptr;
    std::unique_ptr<PreparedLaunch> launch;  ///< null of a copy
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    Event begin;
    Event end;
  };

  [[nodiscard]] Prepared prepared(const Operation& operation, const AttentionPlan& plan,
                                  const std::vector<BufferSpec>& others, const PreparedLaunch::Resolve& address_of);
  [[nodiscard]] CUstream stream_of(const Operation& operation) const;
  void enqueue(Prepared& each);
  void copy(const Prepared& each, CUstream stream) const;
  void run_copies(std::vector<Prepared>& copies, std::chrono::milliseconds limit);
  void wait(CUstream stream, CUevent event) const;
  /// Whatever a function's end, the first GPU's context is current after it.
  class FirstAgain;
  /// One of the kind that is made ready for use. Throws PointEnd that names it.
  [[nodiscard]] std::unique_ptr<Gpu> made(CUdevice device) const;
  void reach_each_other(const Gpu& one, const Gpu& other) const;
  /// A GPU's fault ends nothing on the others: who waits for what never comes asks them.
  void wait_for(const Event& event, std::chrono::milliseconds limit) const;
  [[nodiscard]] double ns_between(const Event& begin, const Event& end) const;
  /// Copies of `bytes` between the first two GPUs at the same time, from one's `from` to the other's `to`.
  [[nodiscard]] double copy_ns(std::size_t bytes, bool both_ways, const std::array<CUdeviceptr, 4>& from_to,
                               std::chrono::milliseconds limit);

  const CudaApi& cuda_;
  const KernelBuilder& builder_;
  std::string arch_;
  const DeviceLimits& limits_;
  First first_;
  std::vector<std::unique_ptr<Gpu>> gpus_;  ///< the first one, too
  std::vector<std::string> uuids_;
  const Schedule* schedule_ = nullptr;
  std::vector<Prepared> distribute_;
  std::vector<Prepared> operations_;
  std::vector<Prepared> gather_;
  Event begin_;
  Event end_;
};

}  // namespace attnscope::gpu
