// SPDX-License-Identifier: Apache-2.0
// The loads that find out a device's ceilings: what each launches, and how much of what it does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/device_limits.h"

namespace attnscope::gpu {

/// One load: a launch whose last argument, an int32, is the number of its iterations.
struct CeilingLoad {
  enum class Method {
    kernel,       ///< one launch, of as many iterations as take `milliseconds`
    driver_copy,  ///< no launch: the driver's copy of the same bytes, as often
    launches,     ///< as many launches, without arguments
  };
  enum class Value { rate, each };  ///< amount a second, or nanoseconds for one

  std::string_view key;  ///< of ceiling_kinds()
  double argument = 0;   ///< Ceiling::argument
  Method method = Method::kernel;
  Value value = Value::rate;
  double amount = 0;                ///< of one iteration, by the whole grid: bytes, operations, loads
  double milliseconds = 4;          ///< that one sample should take
  int iterations = 0;               ///< unless 0: so many, whatever they take
  bool grid_of_iterations = false;  ///< one iteration a row of the grid, for blocks that end after their part
  bool cold = false;                ///< begins with nothing of its own in L2
  bool warm = false;                ///< begins with what the same launch leaves in L2
  KernelLaunch launch;
};

/// Device memory that the loads share.
struct CeilingBuffers {
  std::int64_t data_bytes = 0;  ///< "data": noise, to be read; its second half is written and copied to
  std::int64_t ring_bytes = 0;  ///< "ring_dram": what latencies follow; "ring_l2" and "ring_l1" have ring_bits()
  std::int64_t l2_ring_bytes = 0;
};
inline constexpr std::int64_t l1_ring_bytes = std::int64_t{1} << 14;
inline constexpr int ring_stride = 128;  ///< a line of L2
[[nodiscard]] int ring_bits(std::int64_t bytes);

/// What fits into `free` bytes, of which five eighths are taken at most; data_bytes 0 where that is too little.
[[nodiscard]] CeilingBuffers ceiling_buffers(const DeviceLimits& limits, std::int64_t free);
[[nodiscard]] std::int64_t least_free_for_ceilings(const DeviceLimits& limits);  ///< bytes

/// The loads that this device can run, those of the curves over sizes of data around the L2's included. Of several with
/// one key and argument the fastest stands for the ceiling.
[[nodiscard]] std::vector<CeilingLoad> ceiling_loads(const DeviceLimits& limits, const CeilingBuffers& buffers);

/// The launch that links a ring of `bytes` in `buffer`.
[[nodiscard]] KernelLaunch ring_launch(const std::string& buffer, std::int64_t bytes);

/// Where each load writes cycles and nanoseconds of its first block: 64 bytes.
inline constexpr const char* ceiling_report = "report";

}  // namespace attnscope::gpu
