// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace attnscope {

/// Cancellation flag, set from another thread or a signal handler. Devices check it between launches, the simulator
/// between steps.
class CancelToken {
 public:
  constexpr CancelToken() noexcept = default;
  /// Is also cancelled when `also` is. `also` must outlive this token.
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
