// SPDX-License-Identifier: Apache-2.0
// How a GPU's L2 gives way, as the simulator plays it: fitted to what was measured, GPU by GPU.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/model/device_limits.h"

namespace attnscope {

/// The L2 as a cache of hashed sets, each least recently used.
struct L2Behaviour {
  /// Of the nominal capacity. What SMs of both halves of an L2 read has a copy in each of them, so that less than all
  /// of it holds different lines.
  double effective_share = 1;
  /// Granules that a set holds: the fewer, the wider the range of working sets over which the cache gives way.
  int ways = 0;
  std::string_view measured_on;  ///< the GPU whose counters it was fitted to
  bool inherited = false;        ///< of another GPU than this one

  [[nodiscard]] std::int64_t capacity_bytes(const DeviceLimits& limits) const {
    return static_cast<std::int64_t>(effective_share * static_cast<double>(limits.l2_bytes));
  }
};

/// GPUs that nobody measured inherit from the nearest one that somebody did: the same compute capability, else the
/// newest before it, else the oldest.
[[nodiscard]] L2Behaviour l2_behaviour(const DeviceLimits&);

}  // namespace attnscope
