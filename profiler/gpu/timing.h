// SPDX-License-Identifier: Apache-2.0
// Times launches with events, in a phase of its own.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "profiler/device.h"
#include "profiler/gpu/kernel_runner.h"

namespace attnscope::gpu {

struct TimingRequest {
  CacheState cache = CacheState::cold;
  int min_samples = 10;
  int max_samples = 200;
  double max_noise = 0.02;
  std::chrono::milliseconds timeout{15'000};
  double expected_ns = 0;  ///< of the whole plan: decides how many repetitions are queued at once
};

/// Samples in nanoseconds, in the order taken: [launch][repetition].
using LaunchSamples = std::vector<std::vector<double>>;

/// Repeats the plan until the relative interquartile spread of its sum is small enough, the most samples are taken, the
/// time is up, or it is cancelled; at least one repetition is complete. `while_busy` is called while the GPU works.
[[nodiscard]] LaunchSamples time_launches(KernelRunner& runner, std::span<PreparedLaunch> launches,
                                          const TimingRequest& request, const CancelToken& cancel,
                                          const std::function<void()>& while_busy);

/// Element-wise sum over the launches: one sample for each repetition of the plan.
[[nodiscard]] std::vector<double> sum_samples(const LaunchSamples& samples);

}  // namespace attnscope::gpu
