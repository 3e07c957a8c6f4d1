// SPDX-License-Identifier: Apache-2.0
// Where an algorithm's working set outgrows a device's L2.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// How an L2 gives way: the shares of its nominal capacity at which a working set has 10% and 90% of its transition
/// behind it, from "served by the L2" to "served by DRAM". The default was measured on an H200 with private data: each
/// half of its L2 keeps a copy of its own of what its SMs touch, so that it gives way at about half its size, and sets
/// are hashed and replacement is no strict LRU, so that it does over a factor of two to three.
struct L2Transition {
  double low = 0.3;
  double high = 0.75;
};

struct L2Boundary {
  double n_low = 0;      ///< N at the transition's beginning
  double n_high = 0;     ///< and at its end
  double n_nominal = 0;  ///< N whose working set is as large as the L2 is said to be
  double l2_bytes = 0;   ///< nominal
};

/// Empty where nothing that grows with N is cycled through, and where the N lie outside 16 .. 2^24. Pre: the algorithm
/// does not refuse the problem on that device.
[[nodiscard]] std::optional<L2Boundary> l2_boundary(const Algorithm&, const AttentionProblem& like, const Config&,
                                                    const DeviceLimits&, const L2Transition& = {});

}  // namespace attnscope::analysis
