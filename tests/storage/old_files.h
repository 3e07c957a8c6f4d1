// SPDX-License-Identifier: Apache-2.0
// Files as they once were, and all that a file says.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope::testing {

/// A file as version 0.1.0 wrote it: a run of two points, of which the second one's predecessor was cancelled.
void write_version_1(const std::filesystem::path& file);

/// All that exports say of a file, but for when the JSON was made.
std::string exported(const std::filesystem::path& file);

}  // namespace attnscope::testing
