// SPDX-License-Identifier: Apache-2.0
// NVML, loaded at run time: clocks, temperature, power and throttle reasons. Not every toolkit has its header, so the
// functions used are declared here after NVIDIA's NVML API reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

/// nvmlUtilization_t: utilization in the last sampling period, in percent.
struct NvmlUtilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

/// X(member, function, signature) for each required function.
#define ATTNSCOPE_NVML_FUNCTIONS(X)                                      \
  X(init, nvmlInit_v2, int())                                            \
  X(shutdown, nvmlShutdown, int())                                       \
  X(error_string, nvmlErrorString, const char*(int))                     \
  X(nvml_version, nvmlSystemGetNVMLVersion, int(char*, unsigned))        \
  X(driver_version, nvmlSystemGetDriverVersion, int(char*, unsigned))    \
  X(handle_by_uuid, nvmlDeviceGetHandleByUUID, int(const char*, void**)) \
  X(clock, nvmlDeviceGetClockInfo, int(void*, int, unsigned*))           \
  X(temperature, nvmlDeviceGetTemperature, int(void*, int, unsigned*))   \
  X(power, nvmlDeviceGetPowerUsage, int(void*, unsigned*))
/// Optional functions. The first has an older name (nvmlDeviceGetCurrentClocksThrottleReasons); virtual GPUs may lack
/// the second.
#define ATTNSCOPE_NVML_OTHER_FUNCTIONS(X)                                             \
  X(reasons, nvmlDeviceGetCurrentClocksEventReasons, int(void*, unsigned long long*)) \
  X(use, nvmlDeviceGetUtilizationRates, int(void*, NvmlUtilization*))

/// Returns true if the clock event reasons include a power cap, hardware slowdown, thermal slowdown or power brake.
/// Idle clocks, clocks set by the user and sync boost do not count.
[[nodiscard]] bool indicates_throttling(std::uint64_t reasons);

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

  /// Selects the device with this UUID. Returns false if NVML does not list it; read() then returns nothing.
  bool select(const std::string& uuid);
  /// Current state; empty if any of its values cannot be read.
  [[nodiscard]] std::optional<ClockReading> read() const;
  /// GPU utilization by all processes in the last sampling period (up to 1 s), in percent; empty if it cannot be read.
  [[nodiscard]] std::optional<double> utilization_pct() const;

 private:
  Nvml() = default;
  struct Functions;
  std::unique_ptr<Functions> api_;
  void* device_ = nullptr;
};

}  // namespace attnscope::gpu
