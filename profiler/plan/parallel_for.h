// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "profiler/plan/cancel_token.h"

namespace attnscope {

/// Calls `make_worker()` once per hardware thread and the returned worker with each index below `count`, until
/// cancelled. The first exception stops all threads and is rethrown in the caller.
template <class MakeWorker>
void parallel_for(std::size_t count, const CancelToken& cancel, const MakeWorker& make_worker) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr first;
  const auto work = [&] {
    try {
      auto worker = make_worker();
      for (std::size_t i = next++; i < count && !cancel.cancelled(); i = next++) worker(i);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace attnscope
