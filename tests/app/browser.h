// SPDX-License-Identifier: Apache-2.0
// A browser without a window, for pages that the program writes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::testing {

/// Where Debian, or somebody's distribution, puts it.
std::optional<std::filesystem::path> browser();
/// Arguments for it: no host is found, what the console says goes to stderr, and scripts get so long by their own
/// clock.
std::vector<std::string> headless(const std::vector<std::string>& more, int budget_ms = 4000);

}  // namespace attnscope::testing
