// SPDX-License-Identifier: Apache-2.0
// Launches by user code on the host: shared libraries and Python functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assets/own-kernel/attnscope_kernel.h"
#include "kernels/algorithm.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"

namespace attnscope::gpu {

class HostLaunch {
 public:
  HostLaunch() = default;
  HostLaunch(const HostLaunch&) = delete;
  HostLaunch& operator=(const HostLaunch&) = delete;
  virtual ~HostLaunch() = default;

  /// Enqueues what must precede each launch, untimed: launches of the same call that prepare its buffers.
  virtual void enqueue_before(CUstream /*stream*/) {}
  /// Throws PointAbort for an error of the user's code, DriverError for a device fault.
  virtual void launch(CUstream stream) = 0;
  /// Describes a write outside memory that is allocated for the code; empty if there was none. Pre: the device is idle.
  [[nodiscard]] virtual Message stray_write() const { return {}; }
  /// Bytes of guard areas.
  [[nodiscard]] virtual std::int64_t guard_bytes() const { return 0; }
  /// Host time of the last launch(), if the stream must not run empty during it.
  [[nodiscard]] virtual std::chrono::nanoseconds host_time() const { return std::chrono::nanoseconds(0); }
};

/// Where user code runs. Refers to objects of the session.
struct HostPlace {
  const CudaApi& cuda;
  const Context& context;
  CUstream stream;
  int ordinal;
};

/// Address of a buffer by name.
using BufferResolver = std::function<CUdeviceptr(const std::string& buffer)>;

/// A HostCall as structures of attnscope_kernel.h. Neither copied nor moved: the structures point to members.
struct HostArguments {
  HostArguments(const HostCall& call, int device, const AttentionPlan& plan, const BufferResolver& address_of);
  HostArguments(const HostArguments&) = delete;
  HostArguments& operator=(const HostArguments&) = delete;

  HostCall stated;
  std::vector<attnscope_knob> knobs;
  attnscope_problem problem{};
  attnscope_pointers pointers{};
};

/// Calls `prepare` on a thread of its own, with the context current, and returns its status. `kept` stays alive with
/// the thread, or with the process if the call exceeds `patience`: returns nothing then, and the process should end.
/// Exceptions of `prepare` are rethrown.
[[nodiscard]] std::optional<int> call_with_limit(const HostPlace& place, std::chrono::milliseconds patience,
                                                 std::shared_ptr<void> kept, std::function<int()> prepare);

/// Throws unless `status` is OK. `reason`: one sentence. A sticky device error makes the device unusable, regardless of
/// the status, and is thrown as DriverError.
void check_host_status(const HostPlace& place, int status, const Message& reason);

}  // namespace attnscope::gpu
