// SPDX-License-Identifier: Apache-2.0
// References by name; an algorithm names the one that checks its results.
#pragma once

#include <span>
#include <string_view>

#include "kernels/oracle/reference.h"

namespace attnscope {

struct ReferenceKind {
  std::string_view name;
  Reference (*of)(const AttentionProblem&, const MatrixSource&, ReferenceRequest) = nullptr;
};

/// Linear attention, without softmax (linear_reference.cpp).
[[nodiscard]] Reference reference_linear_attention(const AttentionProblem&, const MatrixSource&, ReferenceRequest);

[[nodiscard]] std::span<const ReferenceKind> references();
/// Returns nullptr for an unknown name.
[[nodiscard]] const ReferenceKind* find_reference(std::string_view name);

}  // namespace attnscope
