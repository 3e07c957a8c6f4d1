// SPDX-License-Identifier: Apache-2.0
// Knobs that several algorithms share.
#pragma once

#include <string_view>

#include "kernels/model/knobs.h"

namespace attnscope {

/// Order in which thread blocks are assigned to SMs. `q_fastest`: consecutive blocks share a head's K and V, which stay
/// in L2; under a causal mask a few heads are interleaved (head_blocks_shape.h). `heads_fastest`: consecutive blocks
/// belong to different heads, whose K and V evict each other from L2.
enum class Raster { q_fastest, heads_fastest };

namespace knob {
inline constexpr std::string_view raster = "raster";
inline constexpr std::string_view splits = "splits";
inline constexpr std::string_view warps = "warps";
inline constexpr std::string_view stages = "stages";
inline constexpr std::string_view rotation = "rotation";
inline constexpr std::string_view quantising = "quantising";
inline constexpr std::string_view heads_fastest = "heads_fastest";  ///< a value of `raster`
inline constexpr std::string_view hadamard = "hadamard";            ///< a value of `rotation`
inline constexpr std::string_view measured = "measured";            ///< a value of `quantising`
}  // namespace knob

[[nodiscard]] const Knob& raster_knob();
[[nodiscard]] const Knob& splits_knob();
[[nodiscard]] const Knob& warps_knob();
[[nodiscard]] const Knob& stages_knob();
[[nodiscard]] const Knob& rotation_knob();
/// Whether the measurement includes the quantization of operands to 8 bits.
[[nodiscard]] const Knob& quantising_knob();

[[nodiscard]] Raster raster_of(const Config&);
/// Value of a numeric knob; 0: the algorithm's choice.
[[nodiscard]] int numeric_knob(const Config&, std::string_view name);

}  // namespace attnscope
