// SPDX-License-Identifier: Apache-2.0
// Linear attention in float64 on the CPU: what a kernel of it is judged by.
#pragma once

#include "kernels/oracle/reference.h"

namespace attnscope {

/// O_i = sum_j phi(Q_i)·phi(K_j) V_j / sum_j phi(Q_i)·phi(K_j) over the keys j that row i sees, phi(x) = elu(x) + 1 (A.
/// Katharopoulos et al., arXiv 2006.16236, equations 4, 5 and 7), from the definition: nothing is summed up over keys
/// before a row is there. `lse` is the logarithm of the divisor, -inf for a row that sees no key. `naive16` is what
/// 16 bits make of the same: features, products, weights and the result rounded, fp32 accumulation. Pre: a forward pass
/// without dropout. Multiply-adds: 2 n_k d a row.
[[nodiscard]] Reference reference_linear_attention(const AttentionProblem&, const MatrixSource&, ReferenceRequest);

}  // namespace attnscope
