// SPDX-License-Identifier: Apache-2.0
// The online softmax, step by step: (m, l, o) of a row while its scores come a block at a time. m is the maximum so
// far, l the sum of e^(s - m), o the sum of e^(s - m) v, or, as FlashAttention (arXiv 2205.14135v2, Algorithm 1) keeps
// it in memory, that sum over l (Rescaling::inner); FlashAttention-2 (arXiv 2307.08691, Section 3.1) divides once, at
// the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace attnscope::analysis::lesson {

/// What is known of a row after some of its scores.
struct OnlineState {
  double m = -std::numeric_limits<double>::infinity();
  double l = 0;
  std::vector<double> o{};  ///< of d values; empty where no values are asked for

  bool operator==(const OnlineState&) const = default;
};

/// Divided: o / l; zeros for a row that saw nothing.
[[nodiscard]] std::vector<double> output_of(const OnlineState&);

/// Scores of some rows, and the values that they weigh.
struct SoftmaxRows {
  std::size_t rows = 1;
  std::size_t columns = 0;
  std::size_t d = 0;             ///< of a value; 0: no values, only weights
  std::vector<double> scores{};  ///< row by row
  std::vector<double> values{};  ///< columns x d
  std::vector<bool> hidden{};    ///< by the mask, row by row; empty: none

  [[nodiscard]] double score(std::size_t row, std::size_t column) const { return scores[row * columns + column]; }
  [[nodiscard]] bool hides(std::size_t row, std::size_t column) const {
    return !hidden.empty() && hidden[row * columns + column];
  }
};

/// S = Q K^T scale, with Q: rows x d, K and V: columns x d.
[[nodiscard]] SoftmaxRows rows_of(std::span<const double> q, std::span<const double> k, std::span<const double> v,
                                  std::size_t d, double scale);

enum class Rescaling : std::uint8_t {
  inner,  ///< FlashAttention: o is divided by l at every block, and lies in memory so
  outer,  ///< FlashAttention-2: once, at the end
};

/// What may go wrong. The seeds' article 001 warns of the first four.
enum class SoftmaxFault : std::uint8_t {
  none,
  forget_rescale,      ///< the maximum rises, and l and o stay as they were
  mask_after_maximum,  ///< what the mask hides still raises the maximum
  mask_after_sum,      ///< and is counted in l
  sum_in_fp16,         ///< l and o are rounded to fp16 after every addition
};
inline constexpr int softmax_faults = 5;
/// "none", "forget-rescale", ...: the word in lessons' files.
[[nodiscard]] std::string_view to_string(SoftmaxFault);

/// One block of one row.
struct OnlineStep {
  std::size_t row = 0;
  std::size_t first = 0;  ///< columns [first, last)
  std::size_t last = 0;
  OnlineState before{};
  double block_m = 0;             ///< of the block alone
  double block_l = 0;             ///< of the block alone, about its own maximum
  double alpha = 0;               ///< e^(m before - m after): what was there is multiplied with it
  double beta = 0;                ///< e^(m of the block - m after): what comes is
  std::vector<double> weights{};  ///< e^(s - m after), of the block
  OnlineState after{};
  bool rescaled = false;  ///< the maximum rose, something was there, and nobody forgot to multiply it
};

/// What rescaling costs, counted as it happens.
struct RescaleCount {
  std::int64_t raised = 0;  ///< blocks whose maximum rose above what was there
  /// Rows of o that were multiplied: every block inner, where it rose outer; none of those where that was forgotten.
  std::int64_t rows_rescaled = 0;
  std::int64_t divisions = 0;            ///< rows of o that were divided by l
  std::int64_t rows_through_memory = 0;  ///< rows of o that were read and written again: inner alone
};

struct OnlineTrace {
  Rescaling rescaling = Rescaling::outer;
  SoftmaxFault fault = SoftmaxFault::none;
  std::size_t block = 1;
  std::vector<OnlineStep> steps{};  ///< row by row, within it block by block
  std::vector<OnlineState> ends{};  ///< of the rows
  std::vector<double> output{};     ///< rows x d
  std::vector<double> weights{};    ///< rows x columns: e^(s - m) / l with what the row ended with
  std::vector<double> exact{};      ///< output as it should be: two passes in double
  double largest_error = 0;         ///< of the output; of the weights where there are no values; NaN counts as infinite
  RescaleCount count{};
};

/// Scores in blocks of `block` columns: 1 is the scalar form, `columns` the safe softmax at once.
/// Throws std::invalid_argument where sizes do not fit one another.
[[nodiscard]] OnlineTrace play_online(const SoftmaxRows&, std::size_t block, Rescaling,
                                      SoftmaxFault fault = SoftmaxFault::none);

/// softmax(s) of one row in two passes, the maximum subtracted.
[[nodiscard]] std::vector<double> safe_softmax(std::span<const double> scores);

}  // namespace attnscope::analysis::lesson
