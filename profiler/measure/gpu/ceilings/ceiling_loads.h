// SPDX-License-Identifier: Apache-2.0
// Loads that measure the ceilings of a device: what each launches and how much work that is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/device_limits.h"

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

}  // namespace attnscope::gpu
