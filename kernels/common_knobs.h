// SPDX-License-Identifier: Apache-2.0
// Knobs, stated once.
#pragma once

#include <string_view>

#include "kernels/model/knobs.h"

namespace attnscope {

/// The order in which thread blocks are handed to the SMs. `q_fastest`: neighbouring blocks share a head's K and V,
/// which then stay in L2; under a causal mask some heads go in turn (head_blocks_shape.h). `heads_fastest`:
/// neighbouring blocks belong to different heads, whose K and V evict one another.
enum class Raster { q_fastest, heads_fastest };

namespace knob {
inline constexpr std::string_view raster = "raster";
inline constexpr std::string_view splits = "splits";
inline constexpr std::string_view warps = "warps";
inline constexpr std::string_view stages = "stages";
inline constexpr std::string_view rotation = "rotation";
inline constexpr std::string_view quantising = "quantising";
inline constexpr std::string_view heads_fastest = "heads_fastest";  ///< a word of `raster`
inline constexpr std::string_view hadamard = "hadamard";            ///< of `rotation`
inline constexpr std::string_view measured = "measured";            ///< of `quantising`
}  // namespace knob

/// Its words are Raster's.
[[nodiscard]] const Knob& raster_knob();
/// Parts that each head's keys are cut into.
[[nodiscard]] const Knob& splits_knob();
/// Warps that multiply.
[[nodiscard]] const Knob& warps_knob();
/// Buffers of K and of V.
[[nodiscard]] const Knob& stages_knob();
/// Whether Q and K are rotated before they become operands of 8 bits.
[[nodiscard]] const Knob& rotation_knob();
/// Whether making operands of 8 bits is measured with what multiplies them.
[[nodiscard]] const Knob& quantising_knob();

[[nodiscard]] Raster raster_of(const Config&);
/// Of a knob that takes numbers; 0: the algorithm's choice.
[[nodiscard]] int knob_of(const Config&, std::string_view name);

}  // namespace attnscope
