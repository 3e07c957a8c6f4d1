// SPDX-License-Identifier: Apache-2.0
// The macros by which kernels are told problem and tile: what they are given, and how people read them.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/model/attention.h"

namespace attnscope {

/// The macros of these names, of ATTN_BF16, ATTN_D, ATTN_BR, ATTN_BC, ATTN_MASK, ATTN_DROPOUT, ATTN_DETERMINISTIC,
/// ATTN_PAGED and ATTN_HEADS_FASTEST: those the source reads, so that configurations which differ in nothing else share
/// a cubin.
[[nodiscard]] std::vector<std::string> kernel_defines(std::initializer_list<std::string_view> names,
                                                      const AttentionProblem&, const Config&);
/// A tile alone would become a Config without its knobs; where none is read, say Config(tile).
std::vector<std::string> kernel_defines(std::initializer_list<std::string_view>, const AttentionProblem&,
                                        const TileShape&) = delete;

/// "ATTN_WARPS" of "ATTN_WARPS=4".
[[nodiscard]] std::string_view macro_of(std::string_view define);
/// "4" of "ATTN_WARPS=4"; empty where the macro has no value.
[[nodiscard]] std::string_view macro_value(std::string_view define);
/// Whether it is the tile's, Br or Bc.
[[nodiscard]] bool is_of_the_tile(std::string_view macro);
/// "warps" for "ATTN_WARPS".
[[nodiscard]] std::string macro_word(std::string_view macro);
/// " d128 64x128 fp16 causal": what a kernel was told, in short; macros of its own stand as they are.
[[nodiscard]] std::string describe_defines(std::span<const std::string> defines);

}  // namespace attnscope
