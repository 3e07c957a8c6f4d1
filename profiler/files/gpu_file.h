// SPDX-License-Identifier: Apache-2.0
// A hypothetical GPU as a JSON file:
//
//   {"name": "H200 with 120 MiB", "from": "NVIDIA H200", "values": {"l2_mib": 120}}
//
// "from" names a public GPU, which has the values that "values" (keys of gpu_values()) leaves out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/model/device_limits.h"
#include "kernels/model/result.h"

namespace attnscope {

/// Parses the text of such a file. The error is one line that begins with `file`.
[[nodiscard]] Result<DeviceLimits, std::string> parse_gpu(std::string_view text, const std::string& file);
[[nodiscard]] Result<DeviceLimits, std::string> read_gpu(const std::filesystem::path& file);

/// The text of a file with all values of a GPU; a public one is called "My NAME".
[[nodiscard]] std::string gpu_text(const DeviceLimits& gpu);

}  // namespace attnscope
