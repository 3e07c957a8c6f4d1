// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/request_queue.h"

namespace attnscope {

void RequestQueue::insert(Place place, MeasureRequest request) {
  places_.emplace(request.id, place);
  waiting_.emplace(place, std::move(request));
}

Message RequestQueue::add(MeasureRequest request, const std::function<void(const MeasureRequest&)>& on_added) {
  const std::scoped_lock lock(mutex_);
  if (closed_) return "the session is ending and accepts no more requests";
  if (request.id == in_flight_ || places_.contains(request.id))
    return make_message("id '{}' belongs to a request that is waiting or being measured (use unique ids)", request.id);
  if (waiting_.size() >= max_waiting)
    return make_message("{} requests are waiting, which is the maximum (retry after some are answered)",
                        waiting_.size());
  if (on_added) on_added(request);
  const Place place{-request.priority, arrivals_++};
  insert(place, std::move(request));
  changed_.notify_one();
  return {};
}

bool RequestQueue::cancel(const std::string& id, const OnRemoved& on_removed) {
  const std::scoped_lock lock(mutex_);
  if (!in_flight_.empty() && id == in_flight_) {
    token_->cancel();
    return true;
  }
  const auto found = places_.find(id);
  if (found == places_.end()) return false;
  on_removed(id);
  waiting_.erase(found->second);
  places_.erase(found);
  return true;
}

std::size_t RequestQueue::cancel_all(const OnRemoved& on_removed) {
  const std::scoped_lock lock(mutex_);
  const std::size_t affected = waiting_.size() + (in_flight_.empty() ? 0 : 1);
  if (!in_flight_.empty()) token_->cancel();
  for (const auto& [place, request] : waiting_) on_removed(request.id);
  waiting_.clear();
  places_.clear();
  return affected;
}

void RequestQueue::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

bool RequestQueue::closed() const {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

bool RequestQueue::is_drained() const {
  const std::scoped_lock lock(mutex_);
  return closed_ && waiting_.empty() && in_flight_.empty();
}

std::optional<MeasureRequest> RequestQueue::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  auto first = waiting_.extract(waiting_.begin());
  places_.erase(first.mapped().id);
  in_flight_ = first.mapped().id;
  in_flight_place_ = first.key();
  token_.emplace(&session_);
  return std::move(first.mapped());
}

void RequestQueue::mark_answered() {
  const std::scoped_lock lock(mutex_);
  in_flight_.clear();
}

void RequestQueue::requeue(MeasureRequest request) {
  const std::scoped_lock lock(mutex_);
  in_flight_.clear();
  insert(in_flight_place_, std::move(request));
}

std::size_t RequestQueue::open() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size() + (in_flight_.empty() ? 0 : 1);
}

}  // namespace attnscope
