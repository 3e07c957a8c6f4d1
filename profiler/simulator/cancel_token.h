// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace attnscope {

/// Set from another thread or a signal handler; a device looks at it between launches, the simulator between
/// steps.
class CancelToken {
 public:
  void cancel() noexcept { flag_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept { return flag_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace attnscope
