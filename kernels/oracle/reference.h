// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients in float64 on the CPU: the reference for kernel outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/attention.h"
#include "kernels/oracle/float16.h"
#include "kernels/oracle/inputs.h"

namespace attnscope {

/// A matrix row: query row `row` of query head `instance`, or key `row` of K/V head `instance`.
struct RowId {
  std::int64_t instance = 0;
  std::int64_t row = 0;
  bool operator==(const RowId&) const = default;
};
/// All rows in memory order, matching the layout of O, LSE and dQ.
[[nodiscard]] std::vector<RowId> all_rows(const AttentionProblem&);
/// All keys of all K/V instances, matching the layout of dK and dV.
[[nodiscard]] std::vector<RowId> all_keys(const AttentionProblem&);
/// At most `count` distinct rows in memory order, for problems too large to check completely: first and last row of the
/// first and last instance, the others chosen at random with `seed`.
[[nodiscard]] std::vector<RowId> sample_rows(const AttentionProblem&, std::size_t count, std::uint64_t seed);

/// The rows of one tensor, [rows, d].
struct ReferenceTensor {
  std::vector<double> exact;
  /// Result of standard attention in the problem's type: S, P, O, dP, dS and the result rounded, fp32 accumulation,
  /// D = rowsum(dO o O) from the rounded O. Its error defines the tolerance. Gradients are also computed with an fp32
  /// dP, and each element is the less accurate of the two.
  /// fp32: instead of roundings, errors of honest fp32 kernels: product_roundoffs() for S and dP, exponential_roundoffs
  /// for P and dS, lse_roundoffs and result_roundoffs. Gradients are also computed with the opposite errors of dP.
  /// Inputs rounded to TF32 or P rounded to 16 bits exceed the tolerance.
  std::vector<float> naive;
};

struct Reference {
  DType dtype = DType::fp16;
  std::int64_t d = 0;
  std::vector<RowId> rows;      ///< rows of O, LSE and dQ
  std::vector<double> lse;      ///< [rows], natural logarithm, before dropout; -inf for a row that sees no key
  double lse_tolerance = 1e-4;  ///< relative for |LSE| above 1, else absolute
  double lse_rounding = 0;      ///< additional tolerance: rounded weights in sums of fp8, canceled scores of fp32
  ReferenceTensor o;
  ReferenceTensor dq;              ///< empty for a forward pass, like the rest
  std::vector<RowId> keys;         ///< rows of dK and dV
  std::vector<std::uint8_t> seen;  ///< [keys], 0 for a key that no row sees
  ReferenceTensor dk;
  ReferenceTensor dv;
};

/// Per-row values of one query head that key gradients need.
struct RowStatistics {
  std::vector<double> lse;         ///< -inf for a row that sees no key
  std::vector<double> delta;       ///< D = rowsum(dO o O)
  std::vector<float> naive_lse;    ///< from rounded scores
  std::vector<float> naive_delta;  ///< from the rounded O of rounded scores and weights
};

/// Returns matrix `instance` of Q, K, V or dO, values of output_dtype(dtype).
using MatrixSource = std::function<std::vector<float>(Tensor, std::int64_t instance)>;
/// Returns statistics of query head `instance` from another source; key gradients then depend on its LSE and D.
using StatisticsSource = std::function<RowStatistics(std::int64_t instance)>;

struct ReferenceRequest {
  std::vector<RowId> rows;        ///< in memory order
  std::vector<RowId> keys{};      ///< in memory order; for the backward pass only
  StatisticsSource statistics{};  ///< empty: computed from all rows of each head that shares a key
  unsigned threads = 0;           ///< 0: all hardware threads; the result does not depend on it
};

/// Computes O and LSE of the rows and, for passes with gradients, dQ of the rows and dK and dV of the keys. Float64,
/// with the problem's mask and dropout; scores are scaled by 1/sqrt(d). Multiply-adds: 2 n_k d per row (5 n_k d with
/// dQ), 4 n_q d per key and query head that reads it.
[[nodiscard]] Reference reference_attention(const AttentionProblem&, const MatrixSource&, ReferenceRequest);

/// Allowed error as a multiple of naive attention's error: 2 as in the FlashAttention authors' tests; for fp32 twice
/// that, since the order of sums matters as much as all other errors.
[[nodiscard]] constexpr double output_allowance(DType dtype) {
  return dtype == DType::fp32 ? 4 : 2;
}
/// Allowance for gradients: 3, with the same factor for fp32.
[[nodiscard]] constexpr double gradient_allowance(DType dtype) {
  return 1.5 * output_allowance(dtype);
}
/// Error of an honest fp32 kernel's LSE relative to max(1, |LSE|).
[[nodiscard]] inline double fp32_lse_tolerance(std::int64_t d) {
  return output_allowance(DType::fp32) * (product_roundoffs(d) + exponential_roundoffs + lse_roundoffs) * fp32_roundoff;
}
/// Maximum allowed error: allowance max|naive - ref| + 2 max r. r is |(ref + 0.3 - 0.3) - ref| of an element in the
/// type, or half the spacing of the type's values at |ref| if larger, since an element may round either way however few
/// elements are checked.
[[nodiscard]] double error_bound(DType, const ReferenceTensor&, double allowance);

/// Kernel output for the rows and keys of a reference, in the same order. Empty tensors are not checked.
struct KernelOutput {
  std::vector<float> o{};
  std::vector<float> lse{};
  std::vector<float> dq{};
  std::vector<float> dk{};
  std::vector<float> dv{};
  bool operator==(const KernelOutput&) const = default;
};

struct CheckResult {
  bool pass = false;
  std::string tensor{};      ///< "O", "dQ", "dK" or "dV": tensor nearest to its bound, to which the errors belong
  double max_abs_error = 0;  ///< infinity if it has a NaN or infinity
  double rms_error = 0;      ///< O with quantized operands, relative to unquantized inputs
  double bound = 0;
  double max_lse_error = 0;  ///< 0 if LSE is not checked; infinity if one of the two values is not finite
  Message reason{};          ///< cause and position of the failure; empty on success
};
/// NaN always fails. A row that sees no key needs O and dQ of exactly 0 and LSE of -inf; a key that no row sees needs
/// dK and dV of exactly 0. Fails if there is nothing to check.
[[nodiscard]] CheckResult check(const Reference&, const KernelOutput&);
/// RMS error of O relative to a reference of the same rows.
[[nodiscard]] double rms_error(const Reference&, const std::vector<float>& o);

/// A reference by its name, which an algorithm states.
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
