// SPDX-License-Identifier: Apache-2.0
// Knobs that several algorithms have, stated once.
#pragma once

#include <string>
#include <string_view>

#include "kernels/model/knobs.h"

namespace attnscope {

/// The order in which thread blocks are handed to the SMs. `q_fastest`: neighbouring blocks share one head's K and V,
/// which then stay in L2. `heads_fastest`: neighbouring blocks belong to different heads, whose K and V evict one
/// another.
enum class Raster { q_fastest, heads_fastest };

namespace knob {
inline constexpr std::string_view raster = "raster";
inline constexpr std::string_view splits = "splits";
inline constexpr std::string_view warps = "warps";
inline constexpr std::string_view stages = "stages";
inline constexpr std::string_view heads_fastest = "heads_fastest";  ///< a word of `raster`
}  // namespace knob

/// Its words are Raster's.
[[nodiscard]] const Knob& raster_knob();
/// Parts that each head's keys are cut into.
[[nodiscard]] const Knob& splits_knob();
/// Warps that multiply.
[[nodiscard]] const Knob& warps_knob();
/// Buffers of K and of V.
[[nodiscard]] const Knob& stages_knob();

/// A Config with these knobs read: what the algorithms work with.
struct Tiling {
  int br = 64;
  int bc = 64;
  Raster raster = Raster::q_fastest;
  int splits = 0;
  int warps = 0;
  int stages = 0;

  // Implicit on purpose: it is the same thing, read.
  // NOLINTBEGIN(google-explicit-constructor)
  [[nodiscard]] operator TileShape() const { return {.br = br, .bc = bc}; }
  [[nodiscard]] operator Config() const;
  // NOLINTEND(google-explicit-constructor)
  bool operator==(const Tiling&) const = default;
};
[[nodiscard]] Tiling tiling_of(const Config&);
[[nodiscard]] inline std::string describe(const Tiling& tiling) {
  return describe(Config(tiling));
}

}  // namespace attnscope
