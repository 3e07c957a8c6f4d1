// SPDX-License-Identifier: Apache-2.0
// Ceilings of a device: the loads that measure them (what each launches and how much work that is), and the benchmark,
// which runs each load once per round in shuffled order and summarizes the samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

/// One load. The launch's last argument is the number of iterations (int32).
struct CeilingLoad {
  enum class Method {
    kernel,       ///< One launch; iterations are chosen so that it takes `milliseconds`.
    driver_copy,  ///< Copies by the driver instead of a kernel.
    launches,     ///< Many launches of a kernel without arguments.
  };
  enum class Value { rate, each };  ///< Units of work per second, or nanoseconds per unit.

  std::string_view key;  ///< A key of ceiling_kinds().
  double argument = 0;
  Method method = Method::kernel;
  Value value = Value::rate;
  double amount = 0;                ///< Work of one iteration of the whole grid: bytes, operations or loads.
  double milliseconds = 4;          ///< Target duration of a sample.
  int iterations = 0;               ///< Fixed number of iterations; 0: calibrated.
  bool iterations_in_grid = false;  ///< One grid row per iteration, for kernels whose blocks end after their chunk.
  bool cold = false;                ///< Starts with a cold L2.
  bool warm = false;                ///< Starts with the L2 contents of a previous identical launch.
  KernelLaunch launch;
};

struct CeilingBuffers {
  /// Buffer "data": random bytes to read. Its second half is the target of writes and copies.
  std::int64_t data_bytes = 0;
  std::int64_t ring_bytes = 0;  ///< Buffer "ring_dram", for DRAM latency. "ring_l2" and "ring_l1" have the same layout.
  std::int64_t l2_ring_bytes = 0;
};
inline constexpr std::int64_t l1_ring_bytes = std::int64_t{1} << 14;
inline constexpr int ring_stride = 128;  ///< An L2 line.
[[nodiscard]] int ring_bits(std::int64_t bytes);

/// Buffer sizes for `free` bytes of device memory; uses at most five eighths of it. data_bytes is 0 if it is too
/// little.
[[nodiscard]] CeilingBuffers ceiling_buffers(const DeviceLimits& limits, std::int64_t free);
[[nodiscard]] std::int64_t min_free_bytes_for_ceilings(const DeviceLimits& limits);  ///< bytes

/// Loads that this device can run, including one per size of the L2 curves. Of several loads with equal key and
/// argument, the fastest gives the ceiling.
[[nodiscard]] std::vector<CeilingLoad> ceiling_loads(const DeviceLimits& limits, const CeilingBuffers& buffers);

/// Launch that links the ring of `bytes` in `buffer` for pointer chasing.
[[nodiscard]] KernelLaunch ring_launch(const std::string& buffer, std::int64_t bytes);

/// Buffer of 64 bytes in which a load stores the cycles and nanoseconds of its first block.
inline constexpr const char* ceiling_report = "report";

/// Resources that the benchmark uses; it keeps references. Null pointers mark unavailable resources.
struct CeilingResources {
  KernelRunner& runner;
  const KernelBuilder& builder;
  const DeviceLimits& limits;
  const std::string& arch;
  const Nvml* nvml = nullptr;
  CounterCollector* counters = nullptr;
  Message no_counters;  ///< Why `counters` is null.
};
/// Throws PointAbort (out_of_memory, cancelled), DriverError or LaunchTimeout if the device is lost. On an exception,
/// `current` is the ceiling that was being measured, or null.
[[nodiscard]] CeilingSet measure_ceilings(const CeilingResources&, const CeilingOptions&, const CancelToken&,
                                          const CeilingProgress&, const CeilingKind*& current);

}  // namespace attnscope::gpu
