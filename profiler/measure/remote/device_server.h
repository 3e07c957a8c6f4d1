// SPDX-License-Identifier: Apache-2.0
// A device that answers lines: the other side of a RemoteDevice. Keeps no file.
#pragma once

#include <functional>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/measure/remote/wire.h"

namespace attnscope::remote {

class DeviceServer {
 public:
  using Say = std::function<void(const Answer&)>;
  /// Both outlive it. `say` is called on the thread that calls answer(), and on those of Device::prepare(), one at a
  /// time.
  DeviceServer(Device& device, Say say) : device_(device), say_(std::move(say)) {}

  /// The first line.
  void introduce(std::string_view app_version, std::string_view simulated_because) const;
  /// One request, but for `cancel`, which is the caller's: it sets the token.
  void answer(const Request&, const CancelToken&);

 private:
  void prepare(const Request&, const CancelToken&);
  void measure(const Request&, const CancelToken&);
  void count(const Request&, const CancelToken&);
  void measure_ceilings(const Request&, const CancelToken&);
  void refuse(const Request&, Message why) const;

  Device& device_;
  Say say_;
  std::vector<PointRecord> waiting_;  ///< for their counters, in the order in which they were measured
};

}  // namespace attnscope::remote
