// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/occupancy.h"

#include <algorithm>
#include <limits>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

constexpr std::int64_t threads_per_warp = 32;
constexpr std::int64_t warp_unit = 4;  // an SM has four partitions, each with a quarter of the registers
constexpr std::int64_t register_unit = 256;
constexpr std::int64_t shared_unit = 128;

std::int64_t registers_per_warp(const LaunchFootprint& launch) {
  return round_up(launch.registers_per_thread * threads_per_warp, register_unit);
}

}  // namespace

int most_registers_per_thread(const DeviceLimits& limits, int threads_per_block) {
  constexpr std::int64_t addressable = 255;
  const std::int64_t warps_of_part = ceil_div(ceil_div(threads_per_block, threads_per_warp), warp_unit);
  const std::int64_t per_warp = limits.registers_per_sm / warp_unit / warps_of_part / register_unit * register_unit;
  return static_cast<int>(std::min(per_warp / threads_per_warp, addressable));
}

std::int64_t shared_bytes_taken(const DeviceLimits& limits, const LaunchFootprint& launch) {
  return round_up(launch.shared_bytes + limits.shared_bytes_reserved, shared_unit);
}

std::int64_t register_bytes_taken(const LaunchFootprint& launch) {
  constexpr std::int64_t register_bytes = 4;
  const std::int64_t warps = std::max<std::int64_t>(1, ceil_div(launch.threads_per_block, threads_per_warp));
  return warps * registers_per_warp(launch) * register_bytes;
}

Occupancy theoretical_occupancy(const DeviceLimits& limits, const LaunchFootprint& launch) {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t warps = std::max<std::int64_t>(1, ceil_div(launch.threads_per_block, threads_per_warp));
  const std::int64_t max_warps = limits.max_threads_per_sm / threads_per_warp;

  std::int64_t by_registers = unlimited;
  if (launch.registers_per_thread > 0) {
    const std::int64_t warps_that_fit = limits.registers_per_sm / warp_unit / registers_per_warp(launch) * warp_unit;
    // One block is let in only if a full set of warps on every partition would fit; beside others it takes what it has.
    by_registers = round_up(warps, warp_unit) <= warps_that_fit ? warps_that_fit / warps : 0;
  }
  const std::int64_t shared = shared_bytes_taken(limits, launch);
  const std::int64_t by_shared = shared > 0 ? limits.shared_bytes_per_sm / shared : unlimited;

  struct Limit {
    std::int64_t blocks;
    std::string_view name;
  };
  const Limit candidates[] = {{max_warps / warps, "threads"},
                              {limits.max_blocks_per_sm, "blocks"},
                              {by_registers, "registers"},
                              {by_shared, "shared memory"}};
  const Limit least = *std::ranges::min_element(candidates, {}, &Limit::blocks);

  Occupancy occupancy;
  occupancy.blocks_per_sm = static_cast<int>(least.blocks);
  occupancy.warps_pct =
      max_warps > 0 ? 100.0 * static_cast<double>(least.blocks * warps) / static_cast<double>(max_warps) : 0;
  const bool grid_too_small = launch.blocks < least.blocks * limits.sm_count;
  occupancy.limiter = grid_too_small ? "grid" : least.name;
  return occupancy;
}

}  // namespace attnscope
