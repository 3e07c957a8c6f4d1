// SPDX-License-Identifier: Apache-2.0
// GPUs that somebody made up, by name: a JSON file in the user's data folder, which both programs read.
//
//   {"version": 1, "gpus": [{"name": "H200 with 120 MiB", "from": "NVIDIA H200", "values": {"l2_mib": 120}}]}
//
// What `values` (keys of gpu_values()) does not name is the public GPU's. The file is written by hand as well, and may
// come from anywhere: nothing in it is taken that a GPU cannot have.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/model/message.h"
#include "kernels/model/result.h"

namespace attnscope {

struct OwnGpu {
  DeviceLimits limits;  ///< its name among them
  std::string from;     ///< the public GPU that it began as
};

inline constexpr std::size_t most_own_gpus = 100;

/// $XDG_DATA_HOME/attnscope/gpus.json; empty where there is no home.
[[nodiscard]] std::filesystem::path own_gpus_file();

/// The text of such a file. The error is one line, with the file's name, and what is wrong with which GPU.
[[nodiscard]] Result<std::vector<OwnGpu>, Message> parse_own_gpus(std::string_view text, const std::string& file);
/// None where there is no file.
[[nodiscard]] Result<std::vector<OwnGpu>, Message> read_own_gpus(const std::filesystem::path& file);
/// Replaces the file as a whole. The error is one line; what was there then stays. Pre: wrong_gpu() of each is empty.
[[nodiscard]] Message write_own_gpus(const std::filesystem::path& file, const std::vector<OwnGpu>& gpus);

/// By its name, whatever its case; nullptr where there is none.
[[nodiscard]] const OwnGpu* find_own_gpu(const std::vector<OwnGpu>& gpus, std::string_view name);

}  // namespace attnscope
