// SPDX-License-Identifier: Apache-2.0
// The panels in which tiles lie for wgmma and for tensor copies: one place for the host, which makes the maps, and for
// the device code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope {

/// Columns of a panel, elements of `element` bytes: a row of it is the most of 128, 64 and 32 bytes that the rows of
/// `columns` are whole multiples of, which is as many bytes as its swizzle repeats after.
constexpr int panel_columns(int columns, int element = 2) {
  const int row = columns * element;
  return (row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : 32) / element;
}

}  // namespace attnscope
