// SPDX-License-Identifier: Apache-2.0
// Counters of a plan's launches, as metrics.
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

/// One metric that a pass collects.
struct CounterMetric {
  std::string name;     ///< the metrics table's key, or the own name of a counter that it does not have
  std::string counter;  ///< as CUPTI knows it
  std::string unit;
  double scale = 1;
};

/// The table's default counters under the names that this compute capability uses.
[[nodiscard]] std::vector<CounterMetric> default_counters(int compute_major);

/// What is to be counted of one point: each launch by itself. Its buffers hold what it runs on, and are its own.
struct CountedPoint {
  std::span<PreparedLaunch> launches;
  CacheState cache = CacheState::cold;
  /// Enqueues what drives dirty lines out of L2. Where it is given, a cold start's write-back is counted too.
  std::function<void()> write_back;
};
/// What was counted of it.
struct PointCounts {
  std::vector<CounterMetric> metrics;
  std::map<std::string, std::vector<MetricValue>> values;  ///< by launch name, in the order of `metrics`
};

struct CountingRequest {
  std::span<const std::string> extra_metrics;  ///< by their Nsight Compute names
  std::chrono::milliseconds limit{15'000};     ///< for one wait
};

/// The counters of one device.
class CounterCollector {
 public:
  /// Throws CuptiError when the counters cannot be had. Keeps a reference to `cupti`.
  CounterCollector(const CuptiApi& cupti, CUcontext context, int device, int compute_major,
                   RangeProfiler::Reuse reuse = RangeProfiler::Reuse::config);

  [[nodiscard]] const CounterHost& host() const { return profiler_.host(); }

  /// All launches of all points are one session of ranges: each once for every pass, cold or warm as its point says.
  /// Of a cold start, `dram_writeback_bytes` too: DRAM's writes in a second range, which holds the launch and then
  /// write_back, less those of the launch's own range and less what such a range writes with no launch in it. Of two
  /// runs, it may fall a little below zero where nothing stays dirty. Before a warm point's first range its launches
  /// run once, so that the L2 holds what they leave and not what the point before it left. Throws CuptiError;
  /// DriverError and LaunchTimeout for what the launches do; PointEnd when it is cancelled: then nothing is counted of
  /// any point.
  [[nodiscard]] std::vector<PointCounts> collect(KernelRunner& runner, std::span<const CountedPoint> points,
                                                 const CountingRequest& request, const CancelToken& cancel);

  /// The ranges that collect() makes of a point, at most.
  [[nodiscard]] static std::size_t ranges_of(std::span<const PreparedLaunch> launches);
  /// Ranges with nothing launched, which the first cold point brings along. Of so many, the least is taken: what else
  /// writes to DRAM comes in bursts, and only adds.
  static constexpr std::size_t idle_ranges = 9;
  /// Points that share a session have no more ranges.
  static constexpr std::size_t most_ranges = RangeProfiler::least_ranges;

  struct Place {
    std::size_t point = 0;
    std::string launch;  ///< empty: none of the point's own
  };
  /// The last thing that collect() set out to run: what is to blame where it threw. Nothing before the first.
  [[nodiscard]] const std::optional<Place>& place() const { return place_; }

  [[nodiscard]] RangeProfiler& profiler() { return profiler_; }
  /// Passes over the launches.
  [[nodiscard]] std::size_t passes() const { return config_ ? config_->passes() : 0; }

 private:
  void configure(std::span<const std::string> extra_metrics);
  [[nodiscard]] CounterConfig make_config() const;
  /// Which of counters_ says what was written to DRAM, where this point's write-back is counted.
  [[nodiscard]] std::optional<std::size_t> settles(const CountedPoint& point) const;
  [[nodiscard]] PointCounts counts_of(const CountedPoint& point, std::size_t number,
                                      const std::map<std::string, std::vector<double>>& raw) const;

  RangeProfiler profiler_;
  int compute_major_;
  std::vector<std::string> extras_;
  std::vector<CounterMetric> counters_;  ///< in the order of config_->metrics()
  /// One of several passes: the library takes another one only after profiling was disabled, which costs 80 ms.
  std::optional<CounterConfig> config_;
  /// DRAM's writes, unscaled, in a range that holds no launch but write_back: what counting itself leaves in L2, 20 kB
  /// on an H200. Counted once.
  std::optional<double> idle_write_;
  std::optional<Place> place_;
};

}  // namespace attnscope::gpu
