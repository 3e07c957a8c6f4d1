// SPDX-License-Identifier: Apache-2.0
// Queue of a session's requests: one thread adds and cancels requests, another one takes them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "profiler/plan/cancel_token.h"
#include "profiler/worker/requests.h"

namespace attnscope {

/// All members are thread-safe. Only the measuring thread calls take(), answered(), requeue() and in_flight().
class RequestQueue {
 public:
  static constexpr std::size_t max_waiting = 100'000;

  /// `session` cancels any request in flight. Keeps a reference.
  explicit RequestQueue(const CancelToken& session) : session_(session) {}

  /// Returns why the request is rejected; empty if accepted. Calls `on_added` before the request can be taken.
  [[nodiscard]] Message add(MeasureRequest request, const std::function<void(const MeasureRequest&)>& on_added = {});

  /// Called for each cancelled waiting request, before its id can be reused. A request in flight is only signaled; the
  /// measuring thread reports its result.
  using OnRemoved = std::function<void(const std::string& id)>;
  /// Returns false if no request with this id is waiting or in flight.
  bool cancel(const std::string& id, const OnRemoved& on_removed);
  /// Returns the number of affected requests.
  std::size_t cancel_all(const OnRemoved& on_removed);

  void close();
  [[nodiscard]] bool closed() const;
  /// Returns true if closed and no request is waiting or in flight.
  [[nodiscard]] bool is_drained() const;

  /// Returns the next request, now in flight. Returns nothing after `patience` or if the queue is closed and empty.
  [[nodiscard]] std::optional<MeasureRequest> take(std::chrono::milliseconds patience);
  /// Cancelled with the request in flight or with the session.
  [[nodiscard]] const CancelToken& in_flight() const { return *token_; }
  /// Marks the request in flight as answered; its id can be reused.
  void mark_answered();
  /// Returns the unanswered request in flight to its old place in the queue.
  void requeue(MeasureRequest request);

  [[nodiscard]] std::size_t open() const;  ///< Waiting or in flight.

 private:
  /// Ordered by descending priority, then by arrival.
  using Place = std::pair<std::int64_t, std::uint64_t>;

  void insert(Place place, MeasureRequest request);

  const CancelToken& session_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Place, MeasureRequest> waiting_;
  std::unordered_map<std::string, Place> places_;  ///< Places of waiting requests by id.
  std::uint64_t arrivals_ = 0;
  std::string in_flight_;  ///< Id of the request in flight; empty if none.
  Place in_flight_place_{};
  std::optional<CancelToken> token_;
  bool closed_ = false;
};

}  // namespace attnscope
