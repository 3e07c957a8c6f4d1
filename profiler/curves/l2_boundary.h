// SPDX-License-Identifier: Apache-2.0
// N at which an algorithm's working set exceeds a device's L2.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Working set, as a share of the nominal L2 capacity, at which 10% and 90% of the transition from L2 to DRAM are
/// complete. Default: measured on an H200 with private data. Each half of its L2 caches what its own SMs access, so the
/// transition is near half the nominal capacity; address hashing and non-LRU replacement spread it over a factor of two
/// to three.
struct L2Transition {
  double low = 0.3;
  double high = 0.75;
};

struct L2Boundary {
  double n_low = 0;  ///< N at the start of the transition
  double n_high = 0;
  double n_nominal = 0;  ///< N at which the working set equals the nominal capacity
  double l2_bytes = 0;
};

/// Returns nullopt if the working set does not grow with N, or if a value is outside 16 to 2^24. Pre: the configuration
/// is feasible on the device.
[[nodiscard]] std::optional<L2Boundary> l2_boundary(const Algorithm&, const AttentionProblem& like, const Config&,
                                                    const DeviceLimits&, const L2Transition& = {});

}  // namespace attnscope::analysis
