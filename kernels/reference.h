// SPDX-License-Identifier: Apache-2.0
// Attention in float64 on the CPU: what a kernel's output is judged by.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention.h"
#include "kernels/inputs.h"

namespace attnscope {

/// One row of O: query row `row` of (batch, head) `instance`.
struct RowId {
  std::int64_t instance = 0;
  std::int64_t row = 0;
  bool operator==(const RowId&) const = default;
};
/// Every row, in memory order: reference rows of all_rows() line up with the whole of O and LSE.
[[nodiscard]] std::vector<RowId> all_rows(const AttentionProblem&);
/// At most `count` distinct rows in memory order, for problems too large to check whole: first and last row of the
/// first and last instance, the rest spread at random (by `seed`) over all instances and rows.
[[nodiscard]] std::vector<RowId> sample_rows(const AttentionProblem&, std::size_t count, std::uint64_t seed);

struct Reference {
  DType dtype = DType::fp16;
  std::int64_t d = 0;
  std::vector<RowId> rows;
  std::vector<double> o;    ///< [rows, d]
  std::vector<double> lse;  ///< [rows], natural logarithm; -inf for a row that sees no key
  /// [rows, d] as standard attention in 16 bits gives it: S, P and O rounded to `dtype`, fp32 accumulation. Its own
  /// error is the measure of what a 16-bit kernel may err.
  std::vector<float> naive16;
};

/// Rows `rows` of O and LSE for these inputs, in float64. Scores are scaled by 1/sqrt(d). Work is 4 n_k d a row, spread
/// over `threads` (0: as many as the machine has); the result does not depend on their number.
[[nodiscard]] Reference reference_attention(const AttentionProblem&, const AttentionInputs&, std::vector<RowId> rows,
                                            unsigned threads = 0);
/// The same for every row.
[[nodiscard]] Reference reference_attention(const AttentionProblem&, const AttentionInputs&, unsigned threads = 0);

/// How far a kernel's output may be from the reference: 2 max|naive16 - ref| + 2 max|(ref + 0.3 - 0.3) - ref|, the
/// second evaluated in 16 bits (the criterion of the FlashAttention authors' own tests).
[[nodiscard]] double error_bound(const Reference&);

struct CheckResult {
  bool pass = false;
  double max_abs_error = 0;  ///< of O; infinity when O holds a NaN or infinity
  double rms_error = 0;
  double bound = 0;
  double max_lse_error = 0;  ///< 0 when LSE is not checked; infinity when one of the pair is not finite
  std::string reason;        ///< why it did not pass, one sentence with the place; empty otherwise
};
/// Judges rows of O (16-bit, [rows, d], the reference's rows in their order) and, unless empty, of LSE (fp32, [rows]).
/// NaN never passes; a row that sees no key must be exactly 0, its LSE -inf.
[[nodiscard]] CheckResult check(const Reference&, std::span<const std::uint16_t> o, std::span<const float> lse);

}  // namespace attnscope
