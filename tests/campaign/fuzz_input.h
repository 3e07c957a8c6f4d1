// SPDX-License-Identifier: Apache-2.0
// What the entry points have in common: text from bytes, and what has to hold of any input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace attnscope::campaign {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program where something does not hold, so that a fuzzer keeps the input; in every build.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "campaign: %s\n", what);
  std::abort();
}

}  // namespace attnscope::campaign
