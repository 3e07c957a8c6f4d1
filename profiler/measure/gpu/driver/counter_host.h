// SPDX-License-Identifier: Apache-2.0
// Host part of CUPTI's range profiler; needs no GPU. Lists a chip's metrics, plans passes and converts raw counters to
// metric values.
#pragma once

#include <cstdint>
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

}  // namespace attnscope::gpu
