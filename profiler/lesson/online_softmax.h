// SPDX-License-Identifier: Apache-2.0
// What the online softmax is shown on. The page plays it, step by step and with its faults, since its scores may be a
// reader's own (assets/lesson/web/online.js); here is the error alone that texts and claims speak of.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attnscope::analysis::lesson {

/// Rows of scores, of the seeds' articles' numbers, and the values that they weigh.
struct SoftmaxExample {
  std::string_view name{};
  std::size_t columns = 0;
  std::size_t d = 0;                  ///< of a value
  std::vector<double> scores{};       ///< row by row
  std::vector<double> values{};       ///< columns x d
  std::vector<bool> hidden{};         ///< by the mask, row by row; empty: none
  std::vector<std::size_t> blocks{};  ///< sizes to play it in
};
[[nodiscard]] std::vector<SoftmaxExample> softmax_examples();

/// How far the output of one row, its scores in blocks of two, is from that of a softmax over the whole row.
/// `rescales`: what was summed is multiplied where the maximum rises (FlashAttention-2, arXiv 2307.08691, Section 3.1).
[[nodiscard]] double online_softmax_error(const std::vector<double>& scores, const std::vector<double>& values,
                                          bool rescales);

}  // namespace attnscope::analysis::lesson
