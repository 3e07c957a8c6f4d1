// SPDX-License-Identifier: Apache-2.0
// Under sanitizers a test may skip problems that touch no other memory.
#pragma once

extern "C" {
[[gnu::weak]] void __asan_init();
[[gnu::weak]] void __tsan_init();
}

namespace attnscope::test {

/// True if the program is linked with a sanitizer: the tests themselves may be compiled without one.
inline bool sanitized() {
  return __asan_init != nullptr || __tsan_init != nullptr;
}

}  // namespace attnscope::test
