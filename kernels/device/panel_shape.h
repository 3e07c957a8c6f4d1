// SPDX-License-Identifier: Apache-2.0
// Panel layout of tiles for wgmma and TMA, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope {

/// Columns of a panel with `element` bytes per element. A panel row has 128, 64 or 32 bytes (the swizzle width), the
/// largest that divides a row of `columns` elements.
constexpr int panel_columns(int columns, int element = 2) {
  const int row = columns * element;
  return (row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : 32) / element;
}

}  // namespace attnscope
