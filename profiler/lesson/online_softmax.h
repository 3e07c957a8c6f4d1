// SPDX-License-Identifier: Apache-2.0
// Examples of the online softmax. The page computes its steps and faults in JavaScript, because readers may enter their
// own scores (assets/lesson/web/online_softmax.js); only the error used by claims is computed here.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attnscope::analysis::lesson {

/// Rows of scores with the values that they weight, from the lesson's articles.
struct SoftmaxExample {
  std::string_view name{};
  std::size_t columns = 0;
  std::size_t d = 0;             ///< columns of a value
  std::vector<double> scores{};  ///< row-major
  std::vector<double> values{};
  std::vector<bool> hidden{};         ///< masked scores, row-major; empty: none
  std::vector<std::size_t> blocks{};  ///< offered block sizes
};
[[nodiscard]] std::vector<SoftmaxExample> softmax_examples();

/// Returns the error of the online softmax of one row, in blocks of two scores, relative to the exact softmax.
/// `rescales`: rescales the accumulator when the maximum rises (FlashAttention-2, arXiv 2307.08691, Section 3.1).
[[nodiscard]] double online_softmax_error(const std::vector<double>& scores, const std::vector<double>& values,
                                          bool rescales);

}  // namespace attnscope::analysis::lesson
