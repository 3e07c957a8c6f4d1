// SPDX-License-Identifier: Apache-2.0
// Values of a GPU that a JSON file may state (profiler/files/gpu_file.h) and that a what-if multiplies.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/model/device_limits.h"

namespace attnscope {

/// One line of the table: adding a value is adding a line.
struct GpuValue {
  std::string_view key;   ///< in files, with its unit: "l2_mib"
  std::string_view unit;  ///< for people: "MiB"; empty: a count
  std::string_view help;
  double least = 0;
  double most = 0;
  bool whole = true;
  double (*get)(const DeviceLimits&) = nullptr;
  void (*set)(DeviceLimits&, double) = nullptr;
};
[[nodiscard]] std::span<const GpuValue> gpu_values();
/// nullptr for an unknown key.
[[nodiscard]] const GpuValue* find_gpu_value(std::string_view key);

/// Error for a value outside its range.
[[nodiscard]] std::string outside(const GpuValue&, double is);
/// Error for a name or value that a hypothetical GPU cannot have; empty if there is none.
[[nodiscard]] std::string wrong_gpu(const DeviceLimits&);
/// The longest name.
inline constexpr std::size_t longest_gpu_name = 60;

/// The public GPU's limits under that name; it states what it was derived from, so that all rates can be set apart.
[[nodiscard]] DeviceLimits own_gpu_like(const DeviceLimits& base, std::string name);

/// Tells GPUs of equal names and different values apart: 8 hexadecimal digits.
[[nodiscard]] std::string digest_of_values(const DeviceLimits&);

/// Multiples of a GPU's memories: 1 leaves one as it is.
struct WhatIf {
  double shared_memory = 1;  ///< of an SM and of a block
  double l2 = 1;             ///< its size
  double dram_rate = 1;

  [[nodiscard]] bool changes_nothing() const { return *this == WhatIf(); }
  bool operator==(const WhatIf&) const = default;
};
inline constexpr double least_what_if = 0.25;
inline constexpr double most_what_if = 8;
/// The GPU with them, under a name that says so ("NVIDIA H200, L2 x2"): what was measured on the GPU itself it inherits
/// as any other does.
[[nodiscard]] DeviceLimits what_if(const DeviceLimits&, const WhatIf&);

}  // namespace attnscope
