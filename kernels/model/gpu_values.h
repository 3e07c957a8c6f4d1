// SPDX-License-Identifier: Apache-2.0
// Values of a GPU that a JSON file can set (profiler/files/gpu_file.h) and a what-if can scale.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/model/device_limits.h"

namespace attnscope {

struct GpuValue {
  std::string_view key;   ///< JSON key, with its unit: "l2_mib"
  std::string_view unit;  ///< displayed unit: "MiB"; empty: a count
  std::string_view help;
  double least = 0;
  double most = 0;
  bool whole = true;
  double (*get)(const DeviceLimits&) = nullptr;
  void (*set)(DeviceLimits&, double) = nullptr;
};
[[nodiscard]] std::span<const GpuValue> gpu_values();
/// Returns nullptr for an unknown key.
[[nodiscard]] const GpuValue* find_gpu_value(std::string_view key);

/// Error text for a value outside its range.
[[nodiscard]] std::string outside(const GpuValue&, double is);
/// Error text for an invalid name or value of a hypothetical GPU; empty if valid.
[[nodiscard]] std::string gpu_error(const DeviceLimits&);
inline constexpr std::size_t max_gpu_name_length = 60;

/// Copy of a public GPU under another name. Rates that the simulator would derive from the original are set explicitly,
/// so that a file can change each of them.
[[nodiscard]] DeviceLimits make_custom_gpu(const DeviceLimits& base, std::string name);

/// 8 hexadecimal digits that distinguish GPUs of equal names and different values.
[[nodiscard]] std::string gpu_values_digest(const DeviceLimits&);

/// Scale factors for a GPU's memories; 1: unchanged.
struct WhatIf {
  double shared_memory = 1;  ///< per SM and per block
  double l2 = 1;             ///< capacity
  double dram_rate = 1;

  [[nodiscard]] bool is_identity() const { return *this == WhatIf(); }
  bool operator==(const WhatIf&) const = default;
};
inline constexpr double min_what_if = 0.25;
inline constexpr double max_what_if = 8;
/// The scaled GPU, named after the change ("NVIDIA H200, L2 x2"). It inherits measured rates as any other GPU does.
[[nodiscard]] DeviceLimits what_if(const DeviceLimits&, const WhatIf&);

}  // namespace attnscope
