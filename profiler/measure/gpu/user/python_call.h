// SPDX-License-Identifier: Apache-2.0
// A Python function as a kernel: the Python package captures a call, this code replays the graph.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/measure/gpu/driver/cuda_graph.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/user/host_launch.h"
#include "profiler/measure/gpu/user/python_kernel.h"

namespace attnscope::gpu {

/// Functions of the package in this process; null: none, points of Python functions are then `compile-error`.
void set_python_functions(const attnscope_python* functions);
[[nodiscard]] const attnscope_python* python_functions();

/// A prepared call of a Python function.
class PythonCall : public std::enable_shared_from_this<PythonCall> {
 public:
  /// Throws PointAbort for an error of the function, DriverError for a device fault, LaunchTimeout if preparing exceeds
  /// four times `limit` (the process should then end). Pre: the device is idle; launch.call is set.
  [[nodiscard]] static std::shared_ptr<PythonCall> prepare(const HostPlace& place, const KernelLaunch& launch,
                                                           const AttentionPlan& plan, const BufferResolver& address_of,
                                                           std::chrono::milliseconds limit);
  PythonCall(const PythonCall&) = delete;
  PythonCall& operator=(const PythonCall&) = delete;
  /// Waits for the whole context if the call was prepared.
  ~PythonCall();

  /// True if the call was captured; otherwise each execution calls the function.
  [[nodiscard]] bool is_captured() const { return result_.measured != nullptr; }
  /// Kernels of a captured call, at least one.
  [[nodiscard]] const std::vector<GraphKernel>& kernels() const { return kernels_; }
  [[nodiscard]] const attnscope_python_plan& result() const { return result_; }
  [[nodiscard]] Message note() const;
  /// Largest number of bytes that the captured call had allocated at a time.
  [[nodiscard]] std::int64_t peak_bytes() const;

  // Launches, which keep this object alive. `launch`: as in prepare().

  /// Fills the memory of the captured call with NaN bytes and runs what must precede it: a forward pass.
  [[nodiscard]] PreparedLaunch reset(const KernelLaunch& launch);
  [[nodiscard]] PreparedLaunch measured(const KernelLaunch& launch);
  /// One launch per element of kernels(), if there are several; else empty. What precedes the kernel in the call is
  /// launched before it, since a kernel may wait for a counter that another one resets.
  [[nodiscard]] std::vector<PreparedLaunch> parts(const KernelLaunch& launch);
  /// Each launch of the captured call in order, under its kernel's name. Empty for a single launch and for
  /// more than max_sequence.
  [[nodiscard]] std::vector<PreparedLaunch> sequence(const KernelLaunch& launch);
  static constexpr std::size_t max_sequence = 32;
  /// Copies the results into the plan's buffers.
  [[nodiscard]] PreparedLaunch copy(const KernelLaunch& launch);
  /// All three.
  [[nodiscard]] PreparedLaunch complete(const KernelLaunch& launch);

  /// Calls the function and copies its results, as a user does, instead of replaying the graph. Throws as prepare().
  void call_function();

 private:
  struct Arguments;
  class Launch;
  using Work = std::function<void(CUstream)>;
  /// Some nodes of the captured call.
  struct GraphPart {
    std::vector<CUgraphNode> nodes;
    std::string name;
  };
  /// Launch of a part, with all nodes before the first of it as enqueue_before().
  PreparedLaunch launch_of(const KernelLaunch& launch, const GraphPart& part);
  /// Empty, with a note, if the graph cannot be divided.
  std::vector<PreparedLaunch> launches_of(const KernelLaunch& launch, std::span<const GraphPart> parts);
  explicit PythonCall(const HostPlace& place) : place_(place) {}
  void capture(const KernelLaunch& launch, std::chrono::milliseconds limit);
  void run(CUgraphExec executable, int (*function)(void*), CUstream stream);
  void enqueue_reset(CUstream stream);
  void enqueue_measured(CUstream stream);
  void enqueue_copy(CUstream stream);
  void check(int status) const;

  HostPlace place_;
  std::shared_ptr<Arguments> arguments_;
  std::string name_;
  attnscope_python_plan result_{};
  std::string note_;
  std::vector<GraphKernel> kernels_;
  GraphExec before_;
  GraphExec measured_;
  GraphExec after_;
  std::chrono::nanoseconds host_time_{0};
};

// Memory that PyTorch allocates with attnscope_malloc() (python_kernel.h).

// Pre: the device is idle. Both throw DriverError.
/// Fills the memory with this tag with NaN bytes, including blocks that PyTorch freed.
void poison_memory(std::int64_t tag);
/// Returns one sentence if the guard areas around memory with this tag were written, else an empty message.
[[nodiscard]] Message stray_write(std::int64_t tag);

}  // namespace attnscope::gpu
