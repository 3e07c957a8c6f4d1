// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch in a manifest: buffers, numbers, tensor maps and structures.
#pragma once

#include <string>
#include <vector>

#include "kernels/user/manifest.h"
#include "kernels/user/manifest_value.h"

namespace attnscope::user {

/// Names that an argument may use.
struct ArgumentNames {
  const std::vector<std::string>& variables;
  std::vector<std::string> buffers;
};

/// Throws ManifestError.
[[nodiscard]] ArgumentSpec parse_argument(const Value&, const ArgumentNames&);

}  // namespace attnscope::user
