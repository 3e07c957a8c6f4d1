// SPDX-License-Identifier: Apache-2.0
// The half of CUPTI's range profiler that needs no GPU: which metric names a chip knows, what collecting them takes,
// and how raw counters become metric values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/measure/gpu/driver/cupti.h"

namespace attnscope::gpu {

/// A set of metrics ready to be collected on one kind of chip. Move-only.
class CounterConfig {
 public:
  CounterConfig(CounterConfig&&) noexcept;
  CounterConfig& operator=(CounterConfig&&) = delete;
  ~CounterConfig();

  [[nodiscard]] const std::vector<std::string>& metrics() const { return metrics_; }
  [[nodiscard]] std::span<const std::uint8_t> image() const { return image_; }
  /// How often the launches must be repeated to collect them all.
  [[nodiscard]] std::size_t passes() const { return passes_; }
  /// Values of range `range` of a decoded counter data image, in the order of metrics(). Throws CuptiError.
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
  /// `availability`: the device's counter availability image; empty with no device at hand. Keeps a reference to
  /// `cupti`.
  CounterHost(const CuptiApi& cupti, std::string chip, std::vector<std::uint8_t> availability = {});

  /// "GH100"
  [[nodiscard]] const std::string& chip() const { return chip_; }

  /// Whether the chip can collect a metric of this full name ("dram__bytes_read.sum").
  [[nodiscard]] bool knows(const std::string& metric) const;
  /// Full names near an unknown one: of another base, or of another rollup where the base is right.
  [[nodiscard]] std::vector<std::string> near(std::string_view metric) const;
  /// The metric's unit in our words ("byte", "percent", "cycle", ...); "1" when it has none.
  [[nodiscard]] std::string unit(const std::string& metric) const;

  /// Throws CuptiError when one of the names is not known.
  [[nodiscard]] CounterConfig configure(std::vector<std::string> metrics) const;

 private:
  [[nodiscard]] CounterConfig make_object() const;

  const CuptiApi& cupti_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
};

/// CUPTI's name for a compute capability's best known chip, to check metric names with no GPU; empty when unknown.
[[nodiscard]] std::string chip_of(int compute_major, int compute_minor);

}  // namespace attnscope::gpu
