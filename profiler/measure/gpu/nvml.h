// SPDX-License-Identifier: Apache-2.0
// NVML, loaded at run time: clocks, temperature, power and throttle reasons. Its header is not part of every toolkit,
// so the few functions used are declared here, as NVIDIA's NVML API reference gives them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/model/message.h"
#include "kernels/model/result.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

/// Whether NVML's clock event reasons slow the SMs down: power cap, hardware slowdown, thermal slowdown, power brake.
/// Idle clocks, clocks set by the user and sync boost do not count.
[[nodiscard]] bool slows_down(std::uint64_t reasons);

class Nvml {
 public:
  /// The error is one sentence.
  [[nodiscard]] static Result<std::unique_ptr<Nvml>, Message> open();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  [[nodiscard]] std::string nvml_version() const;
  /// "580.65.06"
  [[nodiscard]] std::string driver_version() const;

  /// The device of this UUID; false when NVML does not know it (then read() gives nothing).
  bool select(const std::string& uuid);
  /// The state now; nothing where one of its figures cannot be read: 0 W, or "not throttled", would be a claim.
  [[nodiscard]] std::optional<ClockReading> read() const;
  /// Share of the last sampling period (up to a second) in which a kernel ran, anybody's, in percent; nothing where it
  /// cannot be read.
  [[nodiscard]] std::optional<double> use_pct() const;

 private:
  Nvml() = default;
  struct Functions;
  std::unique_ptr<Functions> api_;
  void* device_ = nullptr;
};

}  // namespace attnscope::gpu
