// SPDX-License-Identifier: Apache-2.0
// How the phases of a point say that it ends here: thrown by them, caught by GpuDevice.
#pragma once

#include <stdexcept>
#include <utility>

#include "profiler/metrics/point.h"

namespace attnscope::gpu {

/// The point's disposition is known; the device can go on with the next.
class PointEnd : public std::runtime_error {
 public:
  PointEnd(Disposition disposition, Message reason)
      : std::runtime_error(text(reason)), disposition_(disposition), reason_(std::move(reason)) {}
  /// As make_reason().
  template <class... Args>
  PointEnd(Disposition disposition, std::string_view code, fmt::format_string<Args...> format, Args&&... args)
      : PointEnd(disposition, make_reason<Args...>(code, format, std::forward<Args>(args)...)) {}
  [[nodiscard]] Disposition disposition() const { return disposition_; }
  [[nodiscard]] const Message& reason() const { return reason_; }

 private:
  Disposition disposition_;
  Message reason_;
};

/// A launch did not end in time. It cannot be stopped: the device is lost to this process.
class LaunchTimeout : public std::runtime_error {
 public:
  explicit LaunchTimeout(Message reason) : std::runtime_error(text(reason)), reason_(std::move(reason)) {}
  [[nodiscard]] const Message& reason() const { return reason_; }

 private:
  Message reason_;
};

}  // namespace attnscope::gpu
