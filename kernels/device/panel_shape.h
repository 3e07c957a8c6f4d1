// SPDX-License-Identifier: Apache-2.0
// The panels in which tiles lie for wgmma and for tensor copies: one place for the host, which makes the maps, and for
// the device code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope {

/// Columns of a panel: the most of 64, 32 and 16 that `columns` (a multiple of 16) are whole panels of. A row of a
/// panel is as many bytes as its swizzle repeats after.
constexpr int panel_columns(int columns) {
  return columns % 64 == 0 ? 64 : columns % 32 == 0 ? 32 : 16;
}

}  // namespace attnscope
