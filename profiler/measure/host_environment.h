// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "profiler/measure/device.h"

namespace attnscope {

/// As `--version` prints it: "0.1.0".
[[nodiscard]] const char* program_version();
/// This very program, as a file.
inline constexpr const char* own_program = "/proc/self/exe";

/// The parts of an Environment that need no GPU: this program's version and the operating system's name.
[[nodiscard]] Environment host_environment();

/// The user's home folder: HOME, else what the system's table of users says; empty where neither names one. Never a
/// relative path, which would be a folder of wherever one stands.
[[nodiscard]] std::filesystem::path home_folder();

/// Where the programs keep what people make: $XDG_DATA_HOME/attnscope, else in the home folder; empty where there is
/// none.
[[nodiscard]] std::filesystem::path data_folder();

/// A folder of this user's alone (mode 700) below `parent`, made where it is missing; empty where another user has made
/// something of that name, or it cannot be made.
[[nodiscard]] std::filesystem::path private_folder(const std::filesystem::path& parent);

/// Of a file's bytes, in 32 digits (XXH3); empty where it cannot be read.
[[nodiscard]] std::string file_digest(const std::filesystem::path& file);

}  // namespace attnscope
