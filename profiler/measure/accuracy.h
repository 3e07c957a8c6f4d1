// SPDX-License-Identifier: Apache-2.0
// Table 3 of the FlashAttention-3 paper (arXiv 2407.08608) made anew: how far O is from float64 attention of the same
// inputs, N(0, 1) with an outlier of N(0, 100) in a thousand.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "profiler/measure/device.h"

namespace attnscope {

/// A row of the table: a kernel of 16 bits, or of 8 with or without rotated rows.
struct AccuracyLine {
  PointSpec spec;
  double paper = 0;           ///< RMSE that the paper has for it
  std::vector<double> rms{};  ///< of each seed's inputs
  Message failed{};           ///< why there are none
};
/// The rows for the algorithms that can run them on the device.
[[nodiscard]] std::vector<AccuracyLine> accuracy_lines(const Registry&, const DeviceLimits&);

/// Mean and 95% interval of it (Student's t). Pre: at least two values.
struct MeanInterval {
  double mean = 0;
  double low = 0;
  double high = 0;
};
[[nodiscard]] MeanInterval mean_interval(const std::vector<double>&);

/// Runs every line on the inputs of `seeds` seeds; false: it was cancelled.
bool measure_accuracy(Device&, std::vector<AccuracyLine>&, int seeds, const CancelToken&);

}  // namespace attnscope
