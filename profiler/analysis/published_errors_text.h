// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace attnscope::analysis {

/// assets/samples/h200-errors.csv and h100-errors.csv, which the build puts in.
[[nodiscard]] std::string_view h200_errors_text();
[[nodiscard]] std::string_view h100_errors_text();

}  // namespace attnscope::analysis
