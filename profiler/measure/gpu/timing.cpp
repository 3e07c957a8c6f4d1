// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/timing.h"

#include <algorithm>
#include <utility>

#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {
namespace {

/// Device time per batch: short enough to react to cancellation, long enough to keep the queue full.
constexpr double batch_ns = 1e8;
constexpr int largest_batch = 32;
/// Covers the host's time to enqueue event, launch and event. Needed for warm launches, which no cache clearing
/// precedes, and per launch of a sequence.
constexpr std::chrono::nanoseconds enqueue_time = std::chrono::microseconds(20);

struct Span {
  Event begin;
  Event end;
};

}  // namespace

LaunchSamples time_launches(KernelRunner& runner, std::span<PreparedLaunch> launches, const TimingRequest& request,
                            const CancelToken& cancel, const std::function<void()>& while_busy) {
  const CudaApi& cuda = runner.cuda();
  const auto start = Clock::now();
  const double wanted = request.expected_ns > 0 ? batch_ns / request.expected_ns : largest_batch;
  const int batch = std::clamp(static_cast<int>(std::min(wanted, 1e6)), 1, largest_batch);
  // The whole plan first, then each launch.
  std::vector<std::span<PreparedLaunch>> parts{launches};
  const std::span<PreparedLaunch> separate = request.parts.empty() ? launches : request.parts;
  for (std::size_t i = 0; request.each && separate.size() > 1 && i < separate.size(); ++i)
    parts.push_back(separate.subspan(i, 1));
  std::vector<Span> spans;
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch) * parts.size(); ++i) {
    spans.push_back({make_event(cuda), make_event(cuda)});
  }

  std::vector<std::vector<double>> samples(parts.size());
  const auto result = [&] {
    LaunchSamples taken;
    if (request.clock) {
      runner.wait(request.timeout);
      taken.sm_clock_hz = runner.stamped_clock_hz();
    }
    taken.plan = samples.front();
    if (parts.size() > 1) samples.erase(samples.begin());
    taken.launches = std::move(samples);
    return taken;
  };
  for (int taken = 0;;) {
    // Takes the minimum first, then small steps until the spread is small enough.
    const int left = taken < request.min_samples ? request.min_samples - taken : std::max(5, request.min_samples / 2);
    const int repetitions = std::max(1, std::min({left, request.max_samples - taken, batch}));
    if (request.clock && taken == 0) runner.enqueue_clock_stamp(false);
    for (int r = 0; r < repetitions; ++r) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Span& span = spans[static_cast<std::size_t>(r) * parts.size() + i];
        if (request.before) request.before();
        for (PreparedLaunch& launch : parts[i]) launch.enqueue_before(runner.stream());
        if (request.cache == CacheState::cold) runner.enqueue_l2_clear();
        std::chrono::nanoseconds host_time{0};
        for (const PreparedLaunch& launch : parts[i]) host_time += launch.host_time();
        if (request.cache == CacheState::warm || parts[i].size() > 1 || host_time.count() > 0) {
          runner.enqueue_delay(enqueue_time * static_cast<std::int64_t>(parts[i].size()) + 2 * host_time);
        }
        cuda.record(span.begin.get(), runner.stream());
        for (PreparedLaunch& launch : parts[i]) launch.enqueue(cuda, runner.stream());
        if (i == 0 && request.spin.count() > 0) runner.enqueue_delay(request.spin);
        cuda.record(span.end.get(), runner.stream());
      }
    }
    if (request.clock) runner.enqueue_clock_stamp(true);
    if (while_busy) while_busy();
    const std::size_t used = static_cast<std::size_t>(repetitions) * parts.size();
    runner.wait(spans[used - 1].end.get(), request.timeout * static_cast<std::int64_t>(parts.size()));
    for (std::size_t i = 0; i < used; ++i) {
      samples[i % parts.size()].push_back(cuda.elapsed_ns(spans[i].begin.get(), spans[i].end.get()));
    }
    taken += repetitions;
    if (taken >= request.max_samples || cancel.cancelled() || Clock::now() - start >= request.timeout) return result();
    if (taken < request.min_samples) continue;
    if (const auto summary = summarize(samples.front()); summary && summary->relative_spread <= request.max_noise) {
      return result();
    }
  }
}

}  // namespace attnscope::gpu
