// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/online_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnscope::analysis::lesson {

std::vector<SoftmaxExample> softmax_examples() {
  // First example: Q K^T for Q = V = [1 0; 0 1; 2 1; 1 2] and K = [1 1; 0 2; 1 0; 2 1].
  return {{"4 x 2", 4, 2, {1, 0, 1, 2, 1, 2, 0, 1, 3, 2, 2, 5, 3, 4, 1, 4}, {1, 0, 0, 1, 2, 1, 1, 2}, {}, {2, 1, 4}},
          {"[2, 1, 0]", 3, 1, {2, 1, 0}, {10, 0, -10}, {}, {2, 1, 3}},
          {"[3.01, 0.09, 2.48, 1.95]", 4, 1, {3.01, 0.09, 2.48, 1.95}, {1, 0, 0, 0}, {}, {2, 1, 4}},
          {"[-0.3, 0.2, 0.5, 0.7, 0.1, 0.8]", 6, 1, {-0.3, 0.2, 0.5, 0.7, 0.1, 0.8}, {1, 2, 3, 4, 5, 6}, {}, {3, 1, 6}},
          {"[0, 1, 4, 6]", 4, 1, {0, 1, 4, 6}, {1, 2, 3, 4}, {}, {2, 1, 4}},
          {"[1, 2, (900), 3]", 4, 1, {1, 2, 900, 3}, {1, 2, 30, 4}, {false, false, true, false}, {2, 1, 4}}};
}

double online_softmax_error(const std::vector<double>& scores, const std::vector<double>& values, bool rescales) {
  constexpr std::size_t block = 2;
  double m = -std::numeric_limits<double>::infinity();
  double l = 0;
  double o = 0;
  for (std::size_t first = 0; first < scores.size(); first += block) {
    const std::size_t last = std::min(first + block, scores.size());
    double rises = m;
    for (std::size_t j = first; j < last; ++j) rises = std::max(rises, scores[j]);
    const double alpha = rescales ? std::exp(m - rises) : 1;
    m = rises;
    l *= alpha;
    o *= alpha;
    for (std::size_t j = first; j < last; ++j) {
      l += std::exp(scores[j] - m);
      o += std::exp(scores[j] - m) * values[j];
    }
  }
  const double highest = *std::ranges::max_element(scores);
  double exact_l = 0;
  double exact_o = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    exact_l += std::exp(scores[j] - highest);
    exact_o += std::exp(scores[j] - highest) * values[j];
  }
  return std::abs(o / l - exact_o / exact_l);
}

}  // namespace attnscope::analysis::lesson
