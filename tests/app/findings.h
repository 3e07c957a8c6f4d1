// SPDX-License-Identifier: Apache-2.0
// What sweeps found, to be compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::testing {

/// A line a point with everything that was found, of all runs or of one, without the times at which it was.
std::vector<std::string> findings(const std::filesystem::path& file, std::optional<std::int64_t> run = {});

}  // namespace attnscope::testing
