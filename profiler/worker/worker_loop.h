// SPDX-License-Identifier: Apache-2.0
// What a worker does with its requests (protocol.h). Keeps no file.
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
  /// Both outlive it. `send` is called on the thread that calls answer(), and on those of Device::prepare(), one at a
  /// time.
  WorkerLoop(Device& device, Send send) : device_(device), send_(std::move(send)) {}

  /// The first line.
  void introduce(std::string_view app_version, std::string_view simulated_because) const;
  /// One request, but for `cancel`, which is the caller's: it sets the token.
  void answer(const WorkerRequest&, const CancelToken&);

 private:
  void prepare(const WorkerRequest&, const CancelToken&);
  void measure(const WorkerRequest&, const CancelToken&);
  void count(const WorkerRequest&, const CancelToken&);
  void measure_ceilings(const WorkerRequest&, const CancelToken&);

  Device& device_;
  Send send_;
  std::vector<PointRecord> waiting_;  ///< for their counters, in the order in which they were measured
};

}  // namespace attnscope
