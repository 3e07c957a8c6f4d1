// SPDX-License-Identifier: Apache-2.0
// Geometry of the kernel that joins a GPU's partial results: one place for the host and for the device code. No
// includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::ringattn {

/// Query rows of a block; a thread has 8 columns of one.
constexpr int combine_rows = 16;
constexpr int combine_columns = 8;
constexpr int combine_threads(int d) {
  return combine_rows * d / combine_columns;
}
/// Partial results of a row, at most: one of each GPU.
constexpr int most_parts = 64;
constexpr int combine_registers = 40;

}  // namespace attnscope::ringattn
