// SPDX-License-Identifier: Apache-2.0
// Times launches with CUDA events.
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
  bool each = true;  ///< Also time each launch of a plan separately.
  std::chrono::milliseconds timeout{15'000};
  std::chrono::nanoseconds spin{};    ///< Delay kernel inside the plan's timed interval; 0: none.
  bool clock = false;                 ///< Also measure the SM clock, with two extra launches.
  std::span<PreparedLaunch> parts{};  ///< Launches to time separately instead of those of the plan.
  double expected_ns = 0;             ///< Expected time of the plan; determines the batch size.
  std::function<void()> before = {};  ///< Enqueues untimed work before each sample.
};

/// Samples in nanoseconds, in order, one per repetition.
struct LaunchSamples {
  /// The whole plan, from the start of its first launch to the end of its last one. Each launch finds the L2 contents
  /// of the previous one.
  std::vector<double> plan;
  /// [launch]: each launch (or part) separately, with the requested L2 state. For a plan of one launch, equal to
  /// `plan`. Empty for several launches unless TimingRequest::each.
  std::vector<std::vector<double>> launches;
  double sm_clock_hz = 0;  ///< Mean over all samples; 0 if not requested.
};

/// Repeats the plan until the relative interquartile range is small enough, max_samples is reached, the timeout expires
/// or it is cancelled; completes at least one repetition. `while_busy` is called while the GPU works.
[[nodiscard]] LaunchSamples time_launches(KernelRunner& runner, std::span<PreparedLaunch> launches,
                                          const TimingRequest& request, const CancelToken& cancel,
                                          const std::function<void()>& while_busy);

}  // namespace attnscope::gpu
