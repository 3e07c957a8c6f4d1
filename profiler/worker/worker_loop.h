// SPDX-License-Identifier: Apache-2.0
// Executes the requests of a worker (protocol.h). Accesses no files.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/worker/protocol.h"

namespace attnscope {

class WorkerLoop {
 public:
  using Send = std::function<void(const Event&)>;
  /// Keeps a reference to the device. Calls of `send` are serialized; they come from the thread that calls answer() and
  /// those of Device::prepare().
  WorkerLoop(Device& device, Send send) : device_(device), send_(std::move(send)) {}

  /// Sends the device event.
  void send_device_event(std::string_view app_version, std::string_view simulation_reason) const;
  /// Executes a request other than `cancel`, which the caller handles by cancelling the token.
  void answer(const WorkerRequest&, const CancelToken&);

 private:
  void prepare(const WorkerRequest&, const CancelToken&);
  void measure(const WorkerRequest&, const CancelToken&);
  void count(const WorkerRequest&, const CancelToken&);
  void measure_ceilings(const WorkerRequest&, const CancelToken&);

  Device& device_;
  Send send_;
  std::vector<PointRecord> waiting_;  ///< Waiting for counters, in measurement order.
};

}  // namespace attnscope
