// SPDX-License-Identifier: Apache-2.0
// What recorded files know kernels by. Whoever changes what a kernel does takes its row away; whoever moves text so
// that the order of what the compiler reads is another, and sees that the cubins stay the same, gives the row the new
// digest.
#pragma once

#include <span>
#include <string_view>

namespace attnscope::legacy {

/// A source as version 0.1 had it.
struct EarlierSource {
  std::string_view compiled;  ///< digest of what the compiler reads (profiler/measure/gpu/source_text.h)
  std::string_view file;
  std::string_view digest;  ///< of its path and text, and of those of all that it includes
};
[[nodiscard]] std::span<const EarlierSource> earlier_sources();

}  // namespace attnscope::legacy
