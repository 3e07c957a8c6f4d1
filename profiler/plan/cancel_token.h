// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace attnscope {

/// Set from another thread or a signal handler; a device looks at it between launches, the simulator between
/// steps.
class CancelToken {
 public:
  constexpr CancelToken() noexcept = default;
  /// Cancelled with `also` as well, which outlives it.
  explicit constexpr CancelToken(const CancelToken* also) noexcept : also_(also) {}

  void cancel() noexcept { flag_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept {
    return flag_.load(std::memory_order_relaxed) || (also_ != nullptr && also_->cancelled());
  }

 private:
  const CancelToken* also_ = nullptr;
  std::atomic<bool> flag_{false};
};

}  // namespace attnscope
