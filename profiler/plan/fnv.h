// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace attnscope {

inline constexpr std::uint64_t fnv_basis = 0xcbf29ce484222325ULL;

[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t basis = fnv_basis) {
  for (const char c : text) basis = (basis ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return basis;
}

}  // namespace attnscope
