// SPDX-License-Identifier: Apache-2.0
// Collects hardware counters of launches and converts them to metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measure/gpu/driver/range_profiler.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/cancel_token.h"

namespace attnscope::gpu {

struct CounterMetric {
  std::string name;     ///< Key in the metrics table; for other counters, the counter's name.
  std::string counter;  ///< CUPTI metric name.
  std::string unit;
  double scale = 1;
};

/// Default counters of the metrics table, with the names of this compute capability.
[[nodiscard]] std::vector<CounterMetric> default_counters(int compute_major);

/// A point to count. Each launch is counted separately; the buffers must be set up and not shared with other points.
struct CountedPoint {
  std::span<PreparedLaunch> launches;
  std::span<PreparedLaunch> parts{};     ///< Counted like the launches: their parts, under other names.
  std::span<PreparedLaunch> sequence{};  ///< Counted in the sequence of their call; cold points only.
  CacheState cache = CacheState::cold;
  /// Enqueues work that evicts dirty lines from L2. If set, write-back bytes of cold starts are counted.
  std::function<void()> write_back;
  /// Enqueues uncounted work before each launch; may be empty.
  std::function<void()> before{};
};
struct PointCounts {
  std::vector<CounterMetric> metrics;
  std::map<std::string, std::vector<MetricValue>> values;  ///< Keyed by launch name; ordered like `metrics`.
  /// DRAM bytes of each kernel of `sequence`, summed over its launches.
  std::map<std::string, std::vector<MetricValue>> in_sequence;
};

struct CountingRequest {
  std::span<const std::string> extra_metrics;  ///< Nsight Compute names.
  std::chrono::milliseconds limit{15'000};     ///< Timeout of each wait for the GPU.
};

class CounterCollector {
 public:
  /// Throws CuptiError if counters are unavailable. Keeps a reference to `cupti`.
  CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major);

  [[nodiscard]] const CounterHost& host() const { return profiler_.host(); }

  /// Counts all launches of all points in one session. Each launch runs once per pass, with cold or warm L2 as its
  /// point requires.
  /// For cold points it also derives `dram_writeback_bytes`: DRAM writes of a second range (launch plus write_back),
  /// minus those of the launch's own range, minus those of a range without a launch. The difference of two runs can be
  /// slightly negative.
  /// The launches of a warm point run once before its first range, so that L2 does not hold data of the previous point.
  /// Throws CuptiError; DriverError and LaunchTimeout from the launches; PointAbort if cancelled (then no point has
  /// counts).
  [[nodiscard]] std::vector<PointCounts> collect(KernelRunner& runner, std::span<const CountedPoint> points,
                                                 const CountingRequest& request, const CancelToken& cancel);

  /// Upper bound on the ranges that collect() makes for a point with so many launches and parts.
  [[nodiscard]] static constexpr std::size_t max_ranges_of_point(std::size_t launches) { return 2 * launches; }
  /// Number of ranges without a launch, run with the first cold point. Their minimum is used, since other DRAM writes
  /// come in bursts and only add.
  static constexpr std::size_t idle_ranges = 9;
  /// Maximum number of ranges in a session shared by several points.
  static constexpr std::size_t max_ranges = RangeProfiler::min_allocated_ranges;

  struct Place {
    std::size_t point = 0;
    std::string launch;  ///< Empty for a range without a launch.
  };
  /// The range that collect() started last; identifies the cause of an exception. Empty before the first range.
  [[nodiscard]] const std::optional<Place>& place() const { return place_; }

  [[nodiscard]] RangeProfiler& profiler() { return profiler_; }

 private:
  void configure(std::span<const std::string> extra_metrics);
  [[nodiscard]] CounterConfig make_config() const;
  /// Index of the DRAM write counter in counters_; empty if this point's write-back is not counted.
  [[nodiscard]] std::optional<std::size_t> write_back_counter(const CountedPoint& point) const;
  /// Adds the DRAM bytes of a step to those of its kernel.
  void add_step(const std::vector<double>& counted, std::vector<MetricValue>& sums) const;
  [[nodiscard]] PointCounts counts_of(const CountedPoint& point, std::size_t number,
                                      const std::map<std::string, std::vector<double>>& raw) const;

  RangeProfiler profiler_;
  int compute_major_;
  std::vector<std::string> extra_metrics_;
  std::vector<CounterMetric> counters_;  ///< In the order of config_->metrics().
  /// Kept because changing the configuration requires disabling the profiler, which costs 80 ms.
  std::optional<CounterConfig> config_;
  /// DRAM writes (unscaled) of a range with only write_back: data that profiling itself leaves in L2, 20 kB on an H200.
  /// Measured once.
  std::optional<double> idle_write_;
  std::optional<Place> place_;
};

}  // namespace attnscope::gpu
