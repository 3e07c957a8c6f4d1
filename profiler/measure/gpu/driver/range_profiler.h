// SPDX-License-Identifier: Apache-2.0
// The half of CUPTI's range profiler that runs on the GPU: counts what happens between push and pop, pass after pass.
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

#include "profiler/measure/gpu/driver/counter_host.h"
#include "profiler/measure/gpu/driver/cupti.h"

namespace attnscope::gpu {

/// Profiling of one context. Enabling is slow (a tenth of a second), so an object lives as long as its device; other
/// metrics than before, or more ranges than room was made for, cost as much, since CUPTI (13.0) has to be enabled anew
/// for them: of metrics set while it is enabled the values are NaN, and of ranges beyond the first room some get lost.
/// All members throw CuptiError.
class RangeProfiler {
 public:
  /// So many ranges fit in any case: room for less would be no cheaper.
  static constexpr std::size_t least_ranges = 128;
  /// Whether a configuration that the GPU has serves the next collect() with the same metrics too.
  enum class Reuse { config, nothing };

  /// Asks for the counters of `device`, whose context is `context`. Keeps a reference to `cupti`.
  RangeProfiler(const CuptiApi& cupti, CUcontext context, int device, Reuse reuse = Reuse::config);
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
  /// Values of every range by its name, each in the order of config.metrics(). User replay: all ranges run once for
  /// each of config.passes(). An exception from a range's functions ends the session and passes through.
  [[nodiscard]] std::map<std::string, std::vector<double>> collect(const CounterConfig& config,
                                                                   std::span<const Range> ranges);

  /// Whether configurations are used again: not once CUPTI has refused to.

 private:
  class Session;
  using Values = std::map<std::string, std::vector<double>>;
  /// What the GPU is configured for, in memory that CUPTI keeps pointers to: it reads what it was first given for as
  /// long as it is enabled.
  struct Configured {
    std::vector<std::uint8_t> config_image;
    std::size_t most_ranges = 0;
    std::size_t passes = 0;  ///< that it took; 0 before the first round is over
    std::vector<std::uint8_t> counter_data;
  };
  void enable();
  void disable() noexcept;
  void configure(const CounterConfig& config, std::size_t ranges);
  [[nodiscard]] Configured memory_for(const CounterConfig& config, std::size_t ranges);
  void clear_counter_data();
  [[nodiscard]] bool serves(const CounterConfig& config, std::size_t ranges) const;
  /// Pre: configured for it.
  [[nodiscard]] Values round(const CounterConfig& config, std::span<const Range> ranges);
  void run_passes(const CounterConfig& config, std::span<const Range> ranges);
  [[nodiscard]] Values decode(const CounterConfig& config, std::span<const Range> ranges);

  const CuptiApi& cupti_;
  CUcontext context_;
  CounterHost host_;
  CUpti_RangeProfiler_Object* object_ = nullptr;  ///< nullptr: not enabled
  Reuse reuse_;
  std::optional<Configured> given_;  ///< since it was enabled
  bool configured_ = false;          ///< whether that is known to hold
};

}  // namespace attnscope::gpu
