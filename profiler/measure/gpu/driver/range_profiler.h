// SPDX-License-Identifier: Apache-2.0
// CUPTI's range profiler. Its host part needs no GPU: lists a chip's metrics, plans passes and converts raw counters to
// metric values. Its device part counts the work between push and pop in several passes.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measure/gpu/driver/cupti.h"

namespace attnscope::gpu {

/// A set of metrics configured for one chip. Move-only.
class CounterConfig {
 public:
  CounterConfig(CounterConfig&&) noexcept;
  CounterConfig& operator=(CounterConfig&&) = delete;
  ~CounterConfig();

  [[nodiscard]] const std::vector<std::string>& metrics() const { return metrics_; }
  [[nodiscard]] std::span<const std::uint8_t> image() const { return image_; }
  /// Number of times that the launches must be replayed to collect all metrics.
  [[nodiscard]] std::size_t passes() const { return passes_; }
  /// Metric values of range `range` in a decoded counter data image, in the order of metrics(). Throws CuptiError.
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> counter_data, std::size_t range) const;

 private:
  friend class CounterHost;
  CounterConfig(const CuptiApi& cupti, CUpti_Profiler_Host_Object* object) : cupti_(&cupti), object_(object) {}

  const CuptiApi* cupti_;
  CUpti_Profiler_Host_Object* object_;
  std::vector<std::string> metrics_;
  std::vector<std::uint8_t> image_;
  std::size_t passes_ = 0;
};

class CounterHost {
 public:
  /// `availability`: counter availability image of the device; empty if there is no device. Keeps a reference to
  /// `cupti`.
  CounterHost(const CuptiApi& cupti, std::string chip, std::vector<std::uint8_t> availability = {});

  /// "GH100"
  [[nodiscard]] const std::string& chip() const { return chip_; }

  /// Returns true if the chip can collect the metric with this full name ("dram__bytes_read.sum").
  [[nodiscard]] bool has_metric(const std::string& metric) const;
  /// Full names similar to an unknown one. If the base name is valid, these differ only in the rollup.
  [[nodiscard]] std::vector<std::string> similar_names(std::string_view metric) const;
  /// Unit of the metric as the metrics table spells it ("byte", "percent", "cycle", ...); "1" if it has none.
  [[nodiscard]] std::string unit(const std::string& metric) const;

  /// Throws CuptiError if a name is unknown.
  [[nodiscard]] CounterConfig configure(std::vector<std::string> metrics) const;

 private:
  [[nodiscard]] CounterConfig make_host_object() const;

  const CuptiApi& cupti_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
};

/// Profiler of one context. Enabling takes 0.1 s, so an object lives as long as its device. Other metrics or more
/// ranges than allocated cost as much, since CUPTI 13.0 must be disabled and enabled again: otherwise new metrics are
/// NaN and ranges beyond the first allocation are lost. All members throw CuptiError.
class RangeProfiler {
 public:
  /// Minimum number of ranges to allocate; fewer would not be cheaper.
  static constexpr std::size_t min_allocated_ranges = 128;

  /// `context` must be a context of `device`. Keeps a reference to `cupti`.
  RangeProfiler(const CuptiApi& cupti, CUcontext context, int device);
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler();

  [[nodiscard]] const CounterHost& host() const { return host_; }

  /// A range that runs `work` in every pass. `before` runs right before the range, outside it (to clear caches or
  /// restore buffers). The GPU must be idle when either returns.
  struct Range {
    std::string name;
    std::function<void()> before;
    std::function<void()> work;
  };
  /// Values per range name, in the order of config.metrics(). User replay: all ranges run once per pass. Exceptions of
  /// the range functions end the session and are rethrown.
  [[nodiscard]] std::map<std::string, std::vector<double>> collect(const CounterConfig& config,
                                                                   std::span<const Range> ranges);

 private:
  using Values = std::map<std::string, std::vector<double>>;
  /// The active configuration. CUPTI keeps pointers into it while enabled, so the memory must not move.
  struct ActiveConfig {
    std::vector<std::uint8_t> config_image;
    std::size_t max_ranges = 0;
    std::size_t passes = 0;  ///< Passes of the first complete round; 0 before that.
    std::vector<std::uint8_t> counter_data;
  };
  void enable();
  void disable() noexcept;
  void configure(const CounterConfig& config, std::size_t ranges);
  [[nodiscard]] ActiveConfig allocate_config(const CounterConfig& config, std::size_t ranges);
  void clear_counter_data();
  [[nodiscard]] bool matches_active(const CounterConfig& config, std::size_t ranges) const;
  /// Pre: configured for `config`.
  [[nodiscard]] Values round(const CounterConfig& config, std::span<const Range> ranges);
  void start();
  /// `complete`: true after the last pass.
  CUptiResult stop(bool& complete);
  void push(const std::string& name);
  CUptiResult pop();
  /// Runs the ranges once. Returns true after the last pass.
  [[nodiscard]] bool run_pass(std::span<const Range> ranges);
  void run_passes(const CounterConfig& config, std::span<const Range> ranges);
  [[nodiscard]] Values decode(const CounterConfig& config, std::span<const Range> ranges);

  const CuptiApi& cupti_;
  CUcontext context_;
  CounterHost host_;
  CUpti_RangeProfiler_Object* object_ = nullptr;  ///< nullptr if not enabled.
  bool can_reuse_ = true;               ///< Whether collect() with the same metrics reuses the active configuration.
  std::optional<ActiveConfig> active_;  ///< Set while enabled.
  bool configured_ = false;             ///< Whether the configuration is known to be valid.
};

}  // namespace attnscope::gpu
