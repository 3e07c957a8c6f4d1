// SPDX-License-Identifier: Apache-2.0
// Sanitizers look at what a program touches, not at what it computes: long tests that touch nothing new are skipped
// there.
#pragma once

namespace attnscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace attnscope::test
