// SPDX-License-Identifier: Apache-2.0
// A hypothetical GPU as a JSON file:
//
//   {"name": "H200 with 120 MiB", "from": "NVIDIA H200", "values": {"l2_mib": 120}}
//
// "from" names a known GPU; it provides the values that "values" (keys of gpu_values()) omits.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"

namespace attnscope {

/// Parses the JSON text. `file` is the path for error messages.
[[nodiscard]] Result<DeviceLimits, std::string> parse_gpu(std::string_view text, const std::string& file);
[[nodiscard]] Result<DeviceLimits, std::string> read_gpu(const std::filesystem::path& file);

/// JSON text with all values of a GPU. A known GPU is named "My NAME".
[[nodiscard]] std::string gpu_text(const DeviceLimits& gpu);

}  // namespace attnscope
