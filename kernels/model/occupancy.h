// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy: how many blocks of a launch an SM can hold at once, and what stops the next one.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/model/device_limits.h"

namespace attnscope {

/// What one thread block takes of its SM, and how many of them there are.
struct LaunchFootprint {
  std::int64_t blocks = 1;
  int threads_per_block = 32;
  int registers_per_thread = 0;   ///< 0: unknown, taken as no limit
  std::int64_t shared_bytes = 0;  ///< static and dynamic together
};

struct Occupancy {
  int blocks_per_sm = 0;     ///< 0: not even one block fits
  double warps_pct = 0;      ///< resident warps, percent of what the SM can hold; the grid's size plays no part
  std::string_view limiter;  ///< "registers", "shared memory", "threads", "blocks"; "grid" when there are too few
                             ///< blocks to fill every SM that far
};

/// The most registers a thread may have so that one block of so many threads fits on an SM, as far as registers decide;
/// an instruction addresses 255.
[[nodiscard]] int most_registers_per_thread(const DeviceLimits&, int threads_per_block);

/// Bytes of its SM's shared memory that a block takes, with what the system adds to it.
[[nodiscard]] std::int64_t shared_bytes_taken(const DeviceLimits&, const LaunchFootprint&);
/// Bytes of its SM's registers that a block takes; 0 where they are unknown.
[[nodiscard]] std::int64_t register_bytes_taken(const LaunchFootprint&);

/// Registers are handed out in units of 256 a warp, by four partitions with a quarter of them each, shared memory in
/// units of 128 bytes (CUDA programming guide, compute capabilities 8.0 to 12.x). As the driver's own occupancy for
/// every launch of the recorded sample.
[[nodiscard]] Occupancy theoretical_occupancy(const DeviceLimits&, const LaunchFootprint&);

}  // namespace attnscope
