// SPDX-License-Identifier: Apache-2.0
// The requests of a session: one thread adds and cancels them as they come, another takes them one by one.
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

/// All members may be called from any thread; take() to put_back() and in_flight() are the measuring one's.
class RequestQueue {
 public:
  static constexpr std::size_t most_waiting = 100'000;

  /// `session` cancels whatever is in flight; it outlives this.
  explicit RequestQueue(const CancelToken& session) : session_(session) {}

  /// Why the request is not taken; empty where it is. `on_added` comes before anybody can take it.
  [[nodiscard]] Message add(MeasureRequest request, const std::function<void(const MeasureRequest&)>& on_added = {});

  /// What waited is gone: `on_gone` is called of each, before the id is free. What is in flight is told to end, and
  /// whoever measures it says what came of it.
  using OnGone = std::function<void(const std::string& id)>;
  /// False where no request of that id waits or is in flight.
  bool cancel(const std::string& id, const OnGone& on_gone);
  /// The number of requests that this concerned.
  std::size_t cancel_all(const OnGone& on_gone);

  /// No request is added any more.
  void close();
  [[nodiscard]] bool closed() const;
  /// Closed, and nothing waits or is in flight.
  [[nodiscard]] bool drained() const;

  /// The next request, which is in flight from then on; nothing where none comes within `patience`, or none can come.
  [[nodiscard]] std::optional<MeasureRequest> take(std::chrono::milliseconds patience);
  /// Cancelled with the request in flight, or with the session.
  [[nodiscard]] const CancelToken& in_flight() const { return *token_; }
  /// What is in flight has its answer: its id is free.
  void answered();
  /// It has none, and waits again, before all that came later.
  void put_back(MeasureRequest request);

  [[nodiscard]] std::size_t open() const;  ///< waiting or in flight

 private:
  /// Highest priority first, then the first that came.
  using Place = std::pair<std::int64_t, std::uint64_t>;

  void insert(Place place, MeasureRequest request);

  const CancelToken& session_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Place, MeasureRequest> waiting_;
  std::unordered_map<std::string, Place> places_;  ///< by id, of what waits
  std::uint64_t arrivals_ = 0;
  std::string in_flight_;  ///< its id; empty: nothing is
  Place in_flight_place_{};
  std::optional<CancelToken> token_;
  bool closed_ = false;
};

}  // namespace attnscope
