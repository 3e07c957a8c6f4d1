// SPDX-License-Identifier: Apache-2.0
// Launch and model of the kernel that combines a GPU's partial results (kernels/ringattn/ringattn_combine.cuh).
#pragma once

#include "kernels/algorithm.h"

namespace attnscope::ringattn {

/// Layout of "o_parts" and "lse_parts". The first `whole` parts have `rows` rows per instance, the `later` parts only
/// the rows from `first`. Parts are part_stride() rows apart.
struct PartialResults {
  DType dtype = DType::fp16;
  std::int64_t d = 0;
  std::int64_t instances = 0;
  std::int64_t rows = 0;
  int whole = 0;
  int later = 0;
  std::int64_t first = 0;

  [[nodiscard]] int count() const { return whole + later; }
  /// Distance between two parts in rows: all instances' rows, rounded up to 256 bytes of fp32.
  [[nodiscard]] std::int64_t part_stride() const;
  [[nodiscard]] bool operator==(const PartialResults&) const = default;
};

/// Returns the launch `name` with the buffers "o_parts", "lse_parts", "o" and "lse".
[[nodiscard]] KernelLaunch combine_launch(const PartialResults&, std::string name);

}  // namespace attnscope::ringattn
