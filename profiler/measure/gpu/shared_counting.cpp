// SPDX-License-Identifier: Apache-2.0
// Counts several points in one session, and handles failures of individual points.
#include <algorithm>
#include <utility>

#include "profiler/measure/gpu/gpu_device_impl.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/point_abort.h"

namespace attnscope::gpu {
bool GpuDevice::can_share_session(std::span<const PointSpec> waiting, const PointSpec& next) const {
  return session_->counters && fits_in_session(waiting, next, info_.limits, registry_);
}

Device::CountResult GpuDevice::count(std::span<PointRecord* const> records, const MeasureOptions& options,
                                     const CancelToken& cancel) {
  const auto begin = Clock::now();
  waiting_ = 0;
  Batch batch{.records = records,
              .options = options,
              .cancel = cancel,
              .whole = std::vector<bool>(records.size(), false),
              .alone = false};
  while (usable_ && !batch.cancelled && std::ranges::find(batch.whole, false) != batch.whole.end())
    count_session(batch);
  for (PointRecord* record : records)
    record->wall_seconds += seconds_since(begin) / static_cast<double>(records.size());
  return {.whole = batch.whole, .fatal_point = batch.fatal_point};
}

void GpuDevice::count_session(Batch& batch) {
  const std::vector<std::size_t> members = session_members(batch);
  if (members.empty()) return;
  std::vector<CountedPoint> points;
  for (const std::size_t i : members) {
    const PointRecord& record = *batch.records[i];
    points.push_back({.launches = prepared_.at(i)->launches,
                      .parts = prepared_.at(i)->parts,
                      .sequence = prepared_.at(i)->sequence,
                      .cache = record.spec.cache,
                      .write_back = {},
                      .before = {}});
    if (!prepared_.at(i)->before.empty()) points.back().before = [this, i] { enqueue(prepared_.at(i)->before); };
    if (!counts_write_back(record, batch.options)) continue;
    points.back().write_back = [this] { session_->runner.enqueue_write_back(session_->workspace.noise()); };
  }
  const CountingRequest request{.extra_metrics = batch.options.extra_metrics, .limit = batch.options.timeout};
  CounterCollector& counters = *session_->counters;
  step_failure_ = make_reason("point.counting_crashed", "A kernel crashed during counting.");
  try {
    const auto counts = counters.collect(session_->runner, points, request, batch.cancel);
    for (std::size_t i = 0; i < members.size(); ++i) {
      add_counts(counts[i].metrics, points[i].launches, counts[i].values, *batch.records[members[i]]);
      add_sequence_counts(counts[i].in_sequence, *batch.records[members[i]]);
      add_part_counts(points[i].parts, counts[i].values, *batch.records[members[i]]);
      batch.whole[members[i]] = true;
      if (Message implausible = implausible_bytes_reason(*batch.records[members[i]]); !implausible.empty()) {
        finish(batch, members[i], Disposition::incorrect, std::move(implausible));
      }
    }
  } catch (const CuptiError& error) {
    if (members.size() > 1) {  // CUPTI does not report which point failed
      batch.alone = true;
      batch.first = error;
      return;
    }
    // Report the first error: a session that could not be ended may cause the later ones.
    const CounterAvailability why = explain(batch.first.value_or(error), *cupti_, driver_api_version(cuda_));
    finish(batch, members.front(), Disposition::no_counters, why.reason);
  } catch (...) {
    const auto& place = counters.place();
    if (!place && members.size() > 1) {
      batch.alone = true;
      return;
    }
    finish_from_exception(batch, place ? members[place->point] : members.front(),
                          place ? place->launch : std::string());
  }
}

std::vector<std::size_t> GpuDevice::session_members(Batch& batch) {
  std::vector<std::size_t> members;
  std::size_t ranges = CounterCollector::idle_ranges;
  const auto was_evicted = [this](std::size_t member) { return !session_->workspace.is_filled(member); };
  for (std::size_t i = 0; i < batch.records.size() && usable_ && !batch.cancelled; ++i) {
    if (batch.whole[i]) continue;
    if (batch.alone && !members.empty()) break;
    if (!session_->counters) {
      finish(batch, i, Disposition::no_counters, no_counters_reason());
      continue;
    }
    if (batch.cancel.cancelled()) {
      finish(batch, i, Disposition::cancelled,
             make_reason("point.cancelled_before_counting", "Cancelled before counting."));
      return {};
    }
    try {
      session_->context.make_current();
      if (!is_ready(i, *batch.records[i], batch.options)) make_ready(i, *batch.records[i], batch.options);
      // Points whose buffers were evicted for this one are counted in another session, as are the points after it.
      const bool alone = std::erase_if(members, was_evicted) > 0;
      const std::size_t more = CounterCollector::max_ranges_of_point(
          prepared_.at(i)->launches.size() + prepared_.at(i)->parts.size() + prepared_.at(i)->sequence.size());
      if (!members.empty() && ranges + more > CounterCollector::max_ranges) break;
      ranges += more;
      members.push_back(i);
      if (alone) break;
    } catch (...) {
      finish_from_exception(batch, i, {});
      std::erase_if(members, was_evicted);
    }
  }
  if (!usable_ || batch.cancelled) members.clear();
  return members;
}

bool GpuDevice::is_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options) const {
  const auto found = prepared_.find(slot);
  if (found == prepared_.end() || !session_->workspace.is_filled(slot)) return false;
  const PreparedPoint& point = *found->second;
  return point.spec == record.spec && point.inputs == inputs_of(record.spec, options, point.plan) &&
         (!counts_write_back(record, options) || session_->workspace.has_stored_noise());
}

void GpuDevice::make_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options) {
  step_failure_ = make_reason("point.preparing_failed", "Preparing the point failed.");
  PreparedPoint& point = prepare_plan(slot, *registry_.find(record.spec.algorithm), record.spec, options);
  const std::vector<LoadedLaunch> loaded = load(point);
  session_->workspace.reserve(slot, point.plan, point.inputs, buffer_options(record, options));
  fill(point, loaded, options);
  run_once(point.setup, options.timeout);
  run_once(point.before, options.timeout);
  run_once(point.launches, options.timeout);
}

void GpuDevice::finish(Batch& batch, std::size_t which, Disposition disposition, Message reason) {
  PointRecord& record = *batch.records[which];
  record.disposition = disposition;
  record.reason = std::move(reason);
  batch.whole[which] = true;
  if (!usable_ && !batch.fatal_point) batch.fatal_point = which;
  batch.cancelled = batch.cancelled || disposition == Disposition::cancelled;
}

void GpuDevice::finish_from_exception(Batch& batch, std::size_t which, const std::string& kernel) {
  if (!kernel.empty())
    step_failure_ = make_reason("point.counted_kernel_crashed", "Kernel {} crashed during counting.", kernel);
  PointRecord& record = *batch.records[which];
  set_result_from_exception(record);
  if (record.disposition == Disposition::timeout && !kernel.empty()) {
    record.reason =
        make_reason("point.counted_kernel_still_running", "Kernel {} was still running after {} ms during counting.",
                    kernel, batch.options.timeout.count());
  }
  finish(batch, which, record.disposition, record.reason);
}

}  // namespace attnscope::gpu
