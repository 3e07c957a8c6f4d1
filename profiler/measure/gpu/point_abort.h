// SPDX-License-Identifier: Apache-2.0
// Exceptions that end a point. Thrown by the phases of a measurement, caught by GpuDevice.
#pragma once

#include <stdexcept>
#include <utility>

#include "profiler/metrics/point.h"

namespace attnscope::gpu {

/// Ends a point with a disposition; the device stays usable.
class PointAbort : public std::runtime_error {
 public:
  PointAbort(Disposition disposition, Message reason)
      : std::runtime_error(text(reason)), disposition_(disposition), reason_(std::move(reason)) {}
  /// Arguments as for make_reason().
  template <class... Args>
  PointAbort(Disposition disposition, std::string_view code, fmt::format_string<Args...> format, Args&&... args)
      : PointAbort(disposition, make_reason<Args...>(code, format, std::forward<Args>(args)...)) {}
  [[nodiscard]] Disposition disposition() const { return disposition_; }
  [[nodiscard]] const Message& reason() const { return reason_; }

 private:
  Disposition disposition_;
  Message reason_;
};

/// A launch that exceeded its time limit. It cannot be stopped, so the device is lost to this process.
class LaunchTimeout : public std::runtime_error {
 public:
  explicit LaunchTimeout(Message reason) : std::runtime_error(text(reason)), reason_(std::move(reason)) {}
  [[nodiscard]] const Message& reason() const { return reason_; }

 private:
  Message reason_;
};

}  // namespace attnscope::gpu
