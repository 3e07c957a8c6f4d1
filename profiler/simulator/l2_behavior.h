// SPDX-License-Identifier: Apache-2.0
// L2 parameters of the simulator, fitted per GPU to measured DRAM bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/model/device_limits.h"

namespace attnscope {

/// L2 modeled as a set-associative cache with hashed sets and LRU replacement.
struct L2Behavior {
  /// Fraction of the nominal capacity that holds distinct lines. Less than 1, because lines read by SMs of both L2
  /// partitions are stored twice.
  double effective_share = 1;
  /// Granules per set; fewer ways widen the range of working sets over which misses begin.
  int ways = 0;
  std::string_view measured_on;  ///< GPU whose counters it was fitted to
  bool inherited = false;        ///< fitted to another GPU

  [[nodiscard]] std::int64_t capacity_bytes(const DeviceLimits& limits) const {
    return static_cast<std::int64_t>(effective_share * static_cast<double>(limits.l2_bytes));
  }
};

/// Fitted to the settled DRAM bytes of the recorded sample of an H200, on the problems that data_half_of() assigns to
/// fitting: the grid of shares 0.53, 0.6, 0.65, 0.7, 0.8 and 8, 16, 24 ways was searched for the smallest maximum
/// error. Other GPUs inherit these parameters.
[[nodiscard]] inline L2Behavior l2_behavior(const DeviceLimits& limits) {
  constexpr std::string_view fitted_gpu = "NVIDIA H200";
  return {.effective_share = 0.7, .ways = 16, .measured_on = fitted_gpu, .inherited = limits.name != fitted_gpu};
}

}  // namespace attnscope
