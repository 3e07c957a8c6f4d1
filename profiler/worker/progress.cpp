// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/progress.h"

#include <algorithm>
#include <utility>

namespace attnscope {

ProgressEstimator::ProgressEstimator(std::span<const PointSpec> points, const Registry& registry,
                                     std::vector<std::size_t> times, const std::function<bool()>& cancelled,
                                     std::size_t workers)
    : workers_(workers), open_(std::move(times)) {
  open_.resize(points.size(), 1);
  work_.reserve(points.size());
  double (*counted)(const AttentionProblem&) = nullptr;
  for (std::size_t i = 0; i < points.size() && !(cancelled && cancelled()); ++i) {
    // Adjacent points often share a problem, and computing the FLOPs of a block mask is slow.
    const Algorithm* algorithm = registry.find(points[i].algorithm);
    const auto count = algorithm == nullptr ? pass_flops : algorithm->facts().nominal_flops;
    const bool as_before = i > 0 && points[i].problem == points[i - 1].problem && count == counted;
    work_.push_back(as_before ? work_.back() : count(points[i].problem));
    counted = count;
    open_work_ += static_cast<double>(open_[i]) * work_[i];
    open_count_ += open_[i];
  }
}

void ProgressEstimator::finished(std::size_t index, double seconds, bool measured, bool for_good) {
  if (index >= work_.size() || open_[index] == 0) return;
  const std::size_t less = for_good ? open_[index] : 1;
  open_[index] -= less;
  open_work_ -= static_cast<double>(less) * work_[index];
  open_count_ -= less;
  if (!measured) return;
  done_count_ += 1;
  done_work_ += work_[index];
  done_seconds_ += seconds;
  done_work_squared_ += work_[index] * work_[index];
  done_work_seconds_ += work_[index] * seconds;
}

void ProgressEstimator::worker_lost() {
  if (workers_ > 1) --workers_;
}

std::optional<double> ProgressEstimator::remaining_seconds() const {
  if (open_count_ == 0) return 0.0;
  if (done_count_ == 0) return std::nullopt;
  const double mean_work = done_work_ / done_count_;
  const double mean_seconds = done_seconds_ / done_count_;
  const double spread = done_work_squared_ - (done_work_ * mean_work);
  const double rate =
      spread > 1e-9 * done_work_squared_ ? (done_work_seconds_ - (done_work_ * mean_seconds)) / spread : 0;
  // Negative coefficients are noise; clamp to a line through the origin or a constant.
  const double slope = std::clamp(rate, 0.0, mean_work > 0 ? mean_seconds / mean_work : 0.0);
  const double fixed = mean_seconds - (slope * mean_work);
  const double alone = (fixed * static_cast<double>(open_count_)) + (slope * std::max(open_work_, 0.0));
  return alone / static_cast<double>(workers_);
}

}  // namespace attnscope
