// SPDX-License-Identifier: Apache-2.0
// Headless browser for pages written by the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::testing {

/// Path of the browser; nullopt if none is installed.
std::optional<std::filesystem::path> browser();
/// Arguments: no network, console messages on stderr, and a limit of virtual time for scripts.
std::vector<std::string> headless(const std::vector<std::string>& more, int budget_ms = 4000);

}  // namespace attnscope::testing
