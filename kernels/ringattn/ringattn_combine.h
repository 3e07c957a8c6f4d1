// SPDX-License-Identifier: Apache-2.0
// The launch that joins a GPU's partial results, as theory sees it (kernels/ringattn/ringattn_combine.cuh).
#pragma once

#include "kernels/algorithm.h"

namespace attnscope::ringattn {

/// What lies in "o_parts" and "lse_parts": of each instance `rows` rows in each of the first `whole` parts, and those
/// from `first` on in the `later` ones. A part begins where the one before would end if that had all rows, filled up to
/// part_step() rows.
struct Parts {
  DType dtype = DType::fp16;
  std::int64_t d = 0;
  std::int64_t instances = 0;
  std::int64_t rows = 0;
  int whole = 0;
  int later = 0;
  std::int64_t first = 0;

  [[nodiscard]] int count() const { return whole + later; }
  /// Rows of all instances between the beginnings of two parts.
  [[nodiscard]] std::int64_t part_step() const;
  [[nodiscard]] bool operator==(const Parts&) const = default;
};

/// Named `name`; "o_parts", "lse_parts", "o" and "lse" are its buffers.
[[nodiscard]] KernelLaunch combine_launch(const Parts&, std::string name);

}  // namespace attnscope::ringattn
