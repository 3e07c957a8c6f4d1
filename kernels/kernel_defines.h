// SPDX-License-Identifier: Apache-2.0
// Preprocessor macros that pass problem and tile to the kernels.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/attention.h"

namespace attnscope {

/// Defines of the macros `names`, from ATTN_BF16, ATTN_D, ATTN_BR, ATTN_BC, ATTN_MASK, ATTN_DROPOUT,
/// ATTN_DETERMINISTIC, ATTN_PAGED and ATTN_HEADS_FASTEST. List only macros that the source reads, so that
/// configurations share cubins.
[[nodiscard]] std::vector<std::string> kernel_defines(std::initializer_list<std::string_view> names,
                                                      const AttentionProblem&, const Config&);
/// Deleted because a tile would convert to a Config without knobs. Pass Config(tile) if no knob is read.
std::vector<std::string> kernel_defines(std::initializer_list<std::string_view>, const AttentionProblem&,
                                        const TileShape&) = delete;

/// Returns "ATTN_WARPS" for "ATTN_WARPS=4".
[[nodiscard]] std::string_view macro_name(std::string_view define);
/// Returns "4" for "ATTN_WARPS=4"; empty if the macro has no value.
[[nodiscard]] std::string_view macro_value(std::string_view define);
/// Returns "warps" for "ATTN_WARPS".
[[nodiscard]] std::string macro_label(std::string_view macro);
/// Short description of defines: " d128 64x128 fp16 causal". Unknown macros are appended verbatim.
[[nodiscard]] std::string describe_defines(std::span<const std::string> defines);

}  // namespace attnscope
