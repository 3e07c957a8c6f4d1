// SPDX-License-Identifier: Apache-2.0
// Times launches with events, in a phase of its own.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "profiler/measure/device.h"
#include "profiler/measure/gpu/kernel_runner.h"

namespace attnscope::gpu {

struct TimingRequest {
  CacheState cache = CacheState::cold;
  int min_samples = 10;
  int max_samples = 200;
  double max_noise = 0.02;
  bool each = true;  ///< of several launches, each by itself as well
  std::chrono::milliseconds timeout{15'000};
  std::chrono::nanoseconds spin{};  ///< runs after the whole plan's launches, within its time; 0: none does
  bool clock = false;               ///< the SMs' clock meanwhile, too, by two launches of its own
  double expected_ns = 0;           ///< of the whole plan: decides how many repetitions are queued at once
};

/// Samples in nanoseconds, in the order taken, one for each repetition.
struct LaunchSamples {
  /// Of the whole plan, from its first launch's begin to its last one's end: a launch finds in L2 what the one before
  /// left there.
  std::vector<double> plan;
  /// [launch]: each by itself, in the requested state of the L2; a plan of one launch has that of the plan. Unless
  /// TimingRequest::each, none of several.
  std::vector<std::vector<double>> launches;
  double sm_clock_hz = 0;  ///< the mean from the first sample to the last; 0 where it was not asked for
};

/// Repeats the plan until the relative interquartile spread of its time is small enough, the most samples are taken,
/// the time is up, or it is cancelled; at least one repetition is complete. `while_busy` is called while the GPU works.
[[nodiscard]] LaunchSamples time_launches(KernelRunner& runner, std::span<PreparedLaunch> launches,
                                          const TimingRequest& request, const CancelToken& cancel,
                                          const std::function<void()>& while_busy);

}  // namespace attnscope::gpu
