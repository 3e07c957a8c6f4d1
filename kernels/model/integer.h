// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic of tile counts.
#pragma once

#include <cstdint>

namespace attnscope {

/// Pre: a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The smallest multiple of b that is at least a. Pre: a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return ceil_div(a, b) * b;
}

/// Sum over i in [0, n) of floor((a i + b) / m), in O(log) steps (the lattice points under a line, by the Euclidean
/// algorithm). Pre: n >= 0, m > 0, a >= 0, b >= 0.
[[nodiscard]] constexpr std::int64_t floor_sum(std::int64_t n, std::int64_t m, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  while (n > 0) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    // What is left lies under a line of slope < 1: count it with the axes exchanged.
    const std::int64_t top = a * n + b;
    n = top / m;
    b = top % m;
    const std::int64_t old_m = m;
    m = a;
    a = old_m;
  }
  return sum;
}

}  // namespace attnscope
