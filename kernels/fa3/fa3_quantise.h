// SPDX-License-Identifier: Apache-2.0
// The launches that make FlashAttention-3's 8-bit operands out of 16-bit inputs (fa3_quantise.cuh): Q and K, rotated or
// not, and V transposed, each with a scale for every block of rows.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::fa3_quantise {

/// Keys of a row of V transposed, whole blocks of them.
[[nodiscard]] std::int64_t padded_keys(const AttentionProblem&);

/// "quantise Q", "quantise K" and "transpose V", which `measured` says to be part of what is measured.
[[nodiscard]] std::vector<KernelModel> models(const AttentionProblem&, bool measured);
/// Appends "q8", "k8", "v8" and "q_scales", "k_scales", "v_scales".
void append_buffers(std::vector<BufferSpec>&, const AttentionProblem&);
/// The launches of models().
[[nodiscard]] std::vector<KernelLaunch> launches(const AttentionProblem&, bool rotated, bool measured);

}  // namespace attnscope::fa3_quantise
