// SPDX-License-Identifier: Apache-2.0
// How the phases of a point say that it ends here: thrown by them, caught once, in GpuDevice::measure.
#pragma once

#include <stdexcept>
#include <string>

#include "profiler/metrics/point.h"

namespace attnscope::gpu {

/// The point's disposition is known; the device can go on with the next.
class PointEnd : public std::runtime_error {
 public:
  PointEnd(Disposition disposition, const std::string& reason)
      : std::runtime_error(reason), disposition_(disposition) {}
  [[nodiscard]] Disposition disposition() const { return disposition_; }

 private:
  Disposition disposition_;
};

/// A launch did not end in time. It cannot be stopped: the device is lost to this process.
class LaunchTimeout : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace attnscope::gpu
