// SPDX-License-Identifier: Apache-2.0
// What sweeps found, to be compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::testing {

/// A line a point with everything that was found, without the times at which it was.
std::vector<std::string> findings(const std::filesystem::path& file);

}  // namespace attnscope::testing
