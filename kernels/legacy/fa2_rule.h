// SPDX-License-Identifier: Apache-2.0
// What ran as "fa2" up to version 0.1: on GPUs of compute capability 9.0, FlashAttention-3's schedule (wgmma) wherever
// it had the tile, the kernel for every GPU (mma.sync) elsewhere. Files of then do not say which; this is the rule by
// which it was chosen, frozen: it shares nothing with what chooses kernels now, and never changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/model/attention.h"

namespace attnscope::legacy {

/// How points that wgmma ran are named since: they are neither today's fa2 nor, with other choices of tiles, fa3.
inline constexpr std::string_view fa2_on_wgmma = "fa2 (wgmma, 0.1)";

/// Of a tile and a device, what the choice turned on. 0 in warps or stages: the kernel's own choice.
struct Fa2Run {
  int br = 0;
  int bc = 0;
  int warps = 0;
  int stages = 0;
  bool q_fastest = true;  ///< the raster
  int compute_major = 0;
  int compute_minor = 0;
  std::int64_t shared_bytes_per_block = 0;  ///< that a block can opt in to
};

/// Whether a measured launch of the point was one of the wgmma kernels': of both passes, one is enough.
[[nodiscard]] bool ran_on_wgmma(const AttentionProblem&, const Fa2Run&);

/// The word for the algorithm of a point of a file of version 0.1: fa2_on_wgmma where "fa2" ran on it, else
/// `algorithm`.
[[nodiscard]] std::string shown_algorithm(std::string_view algorithm, const AttentionProblem&, const Fa2Run&);

}  // namespace attnscope::legacy
