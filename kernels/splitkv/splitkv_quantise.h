// SPDX-License-Identifier: Apache-2.0
// The launches that make a cache of 8 bits out of K and V in 16 (splitkv_quantise.cuh). They are not measured: a cache
// is written once and read at every step.
#pragma once

#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::splitkv {

/// "quantise K" and "quantise V".
[[nodiscard]] std::vector<KernelModel> quantise_models(const AttentionProblem&);
/// Appends "k8", "v8", laid out as K and V are, and "k_scales", "v_scales", [K/V heads] fp32.
void append_quantised(std::vector<BufferSpec>&, const AttentionProblem&);
/// The launches of quantise_models().
[[nodiscard]] std::vector<KernelLaunch> quantise_launches(const AttentionProblem&);

}  // namespace attnscope::splitkv
