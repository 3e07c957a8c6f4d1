// SPDX-License-Identifier: Apache-2.0
// Geometry of the combine kernel, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::ringattn {

/// Query rows per block; a thread processes 8 columns of one row.
constexpr int combine_rows = 16;
constexpr int combine_columns = 8;
constexpr int combine_threads(int d) {
  return combine_rows * d / combine_columns;
}
/// Maximum partial results per row: one per GPU.
constexpr int max_parts = 64;
constexpr int combine_registers = 40;

}  // namespace attnscope::ringattn
