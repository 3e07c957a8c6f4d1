// SPDX-License-Identifier: Apache-2.0
// The half of CUPTI's range profiler that runs on the GPU: counts what happens between push and pop, pass after pass.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/measure/gpu/counter_host.h"
#include "profiler/measure/gpu/cupti.h"

namespace attnscope::gpu {

/// Profiling of one context. Enabling is slow (a tenth of a second), so an object lives as long as its device. All
/// members throw CuptiError.
class RangeProfiler {
 public:
  /// Asks for the counters of `device`, whose context is `context`. Keeps a reference to `cupti`.
  RangeProfiler(const CuptiApi& cupti, CUcontext context, int device);
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler();

  [[nodiscard]] const CounterHost& host() const { return host_; }

  /// Runs `work` in range `range` of every pass; `before` outside the range, right before it (to clear caches, restore
  /// buffers). Both must have left the GPU idle when they return.
  struct Range {
    std::string name;
    std::function<void()> before;
    std::function<void()> work;
  };
  /// Values by range name, in the order of config.metrics(). User replay: all ranges run once for each of
  /// config.passes(). An exception from a range's functions ends the session and passes through.
  [[nodiscard]] std::map<std::string, std::vector<double>> collect(const CounterConfig& config,
                                                                   std::span<const Range> ranges);

 private:
  class Session;

  const CuptiApi& cupti_;
  CounterHost host_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

}  // namespace attnscope::gpu
