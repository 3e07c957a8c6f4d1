// SPDX-License-Identifier: Apache-2.0
// Counters of a plan's launches, as metrics.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/range_profiler.h"
#include "profiler/metrics/point.h"

namespace attnscope::gpu {

/// One metric that a pass collects.
struct CounterMetric {
  std::string name;     ///< the metrics table's key, or the counter's own name for one asked for with --metrics
  std::string counter;  ///< as CUPTI knows it
  std::string unit;
  double scale = 1;
};

/// The table's default counters under the names that this compute capability uses.
[[nodiscard]] std::vector<CounterMetric> default_counters(int compute_major);

/// The counters of one device.
class CounterCollector {
 public:
  /// Throws CuptiError when the counters cannot be had. Keeps a reference to `cupti`.
  CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major);

  [[nodiscard]] const CounterHost& host() const { return profiler_.host(); }

  /// Values by launch name. All launches are one session of ranges: each once for every pass, cold or warm as asked.
  /// Throws CuptiError; DriverError and LaunchTimeout for what the launches do.
  [[nodiscard]] std::map<std::string, std::vector<MetricValue>> collect(KernelRunner& runner,
                                                                        std::span<PreparedLaunch> launches,
                                                                        CacheState cache,
                                                                        std::span<const std::string> extra_metrics,
                                                                        std::chrono::milliseconds limit);
  /// What collect() last gave values of, in their order.
  [[nodiscard]] std::span<const CounterMetric> metrics() const { return metrics_; }

 private:
  void configure(std::span<const std::string> extra_metrics);

  RangeProfiler profiler_;
  int compute_major_;
  std::vector<std::string> extras_;
  std::vector<CounterMetric> metrics_;
  std::unique_ptr<CounterConfig> config_;
};

}  // namespace attnscope::gpu
