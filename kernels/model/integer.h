// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnscope {

/// Pre: a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Smallest multiple of b that is at least a. Pre: a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return ceil_div(a, b) * b;
}

}  // namespace attnscope
