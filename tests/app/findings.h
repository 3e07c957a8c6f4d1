// SPDX-License-Identifier: Apache-2.0
// Results of sweeps in a comparable form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::testing {

/// One line per point with all results except absolute times, for all runs or one.
std::vector<std::string> findings(const std::filesystem::path& file, std::optional<std::int64_t> run = {});

}  // namespace attnscope::testing
