// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients in float64 on the CPU: what a kernel's output is judged by.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/attention.h"
#include "kernels/oracle/inputs.h"

namespace attnscope {

/// One row of a matrix: query row `row` of (batch, head) `instance`, or key `row` of a K/V instance.
struct RowId {
  std::int64_t instance = 0;
  std::int64_t row = 0;
  bool operator==(const RowId&) const = default;
};
/// Every row, in memory order: reference rows of all_rows() line up with the whole of O, LSE and dQ.
[[nodiscard]] std::vector<RowId> all_rows(const AttentionProblem&);
/// Every key of every K/V instance: they line up with the whole of dK and dV.
[[nodiscard]] std::vector<RowId> all_keys(const AttentionProblem&);
/// At most `count` distinct rows in memory order, for problems too large to check whole: first and last row of the
/// first and last instance, the rest spread at random (by `seed`) over all instances and rows.
[[nodiscard]] std::vector<RowId> sample_rows(const AttentionProblem&, std::size_t count, std::uint64_t seed);

/// The rows of one tensor, [rows, d].
struct ReferenceTensor {
  std::vector<double> exact;
  /// As standard attention in 16 bits gives it: S, P, O, dP, dS and the result rounded to the problem's type, fp32
  /// accumulation, D = rowsum(dO o O) from the rounded O. Its own error is the measure of what a 16-bit kernel may err.
  /// A gradient is computed with dP left in fp32 as well, and each element is the worse of the two.
  std::vector<float> naive16;
};

struct Reference {
  DType dtype = DType::fp16;  ///< of outputs
  std::int64_t d = 0;
  std::vector<RowId> rows;      ///< of O, LSE and dQ
  std::vector<double> lse;      ///< [rows], natural logarithm, before dropout; -inf for a row that sees no key
  double lse_tolerance = 1e-4;  ///< of its magnitude, or of 1 where that is less
  double lse_rounding = 0;      ///< besides, where sums are of rounded weights
  ReferenceTensor o;
  ReferenceTensor dq;              ///< empty for a forward pass, like the rest
  std::vector<RowId> keys;         ///< of dK and dV
  std::vector<std::uint8_t> seen;  ///< [keys], 0 for a key that no row sees
  ReferenceTensor dk;
  ReferenceTensor dv;
};

/// What the gradient of a key needs of every query row of one head.
struct RowStatistics {
  std::vector<double> lse;     ///< -inf for a row that sees no key
  std::vector<double> delta;   ///< D = rowsum(dO o O)
  std::vector<float> lse16;    ///< of the scores rounded to 16 bits
  std::vector<float> delta16;  ///< from O of rounded scores and weights, itself rounded
};

/// Matrix `instance` of Q, K, V or dO.
using MatrixSource = std::function<std::vector<std::uint16_t>(Tensor, std::int64_t instance)>;
/// Statistics of query head `instance`, from elsewhere: another's word for LSE and D, which the gradients of keys then
/// rest on.
using StatisticsSource = std::function<RowStatistics(std::int64_t instance)>;

struct ReferenceRequest {
  std::vector<RowId> rows;        ///< in memory order
  std::vector<RowId> keys{};      ///< in memory order; for the backward pass only
  StatisticsSource statistics{};  ///< none: computed here from all rows of each head that shares a key
  unsigned threads = 0;           ///< 0: as many as the machine has; the result does not depend on it
};

/// O, LSE and, where the problem's pass has it, dQ of the rows and dK and dV of the keys, in float64, under the
/// problem's mask and dropout. Scores are scaled by 1/sqrt(d). Multiply-adds: 2 n_k d a row (5 n_k d with dQ), 4 n_q d
/// for a key and each query head that reads it.
[[nodiscard]] Reference reference_attention(const AttentionProblem&, const MatrixSource&, ReferenceRequest);

/// How often naive attention's own error a kernel may err (the criterion of the FlashAttention authors' own tests).
inline constexpr double output_allowance = 2;
inline constexpr double gradient_allowance = 3;
/// How far a kernel's output may be from the reference: allowance max|naive16 - ref| + 2 max r. r is an element's
/// |(ref + 0.3 - 0.3) - ref|, evaluated in 16 bits, or where that is larger half the distance of the type's values at
/// |ref|: an element may round to either side, however few elements are looked at.
[[nodiscard]] double error_bound(DType, const ReferenceTensor&, double allowance);

/// What a kernel computed, at the rows and keys of a reference and in their order. What is empty is not judged.
struct KernelOutput {
  std::vector<std::uint16_t> o{};
  std::vector<float> lse{};
  std::vector<std::uint16_t> dq{};
  std::vector<std::uint16_t> dk{};
  std::vector<std::uint16_t> dv{};
  bool operator==(const KernelOutput&) const = default;
};

struct CheckResult {
  bool pass = false;
  std::string tensor{};      ///< "O", "dQ", "dK" or "dV": the one nearest to its bound, which the figures are of
  double max_abs_error = 0;  ///< infinity when it holds a NaN or infinity
  double rms_error = 0;      ///< of O that quantised operands gave, against what the given inputs give
  double bound = 0;
  double max_lse_error = 0;  ///< 0 when LSE is not checked; infinity when one of the pair is not finite
  Message reason{};          ///< why it did not pass, one sentence with the place; empty otherwise
};
/// NaN never passes; a row that sees no key must be exactly 0 in O and dQ, its LSE -inf; a key that no row sees exactly
/// 0 in dK and dV. Nothing to judge does not pass.
[[nodiscard]] CheckResult check(const Reference&, const KernelOutput&);
/// Of O against a reference of the same rows.
[[nodiscard]] double rms_error(const Reference&, const std::vector<std::uint16_t>& o);

}  // namespace attnscope
