// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace attnscope::analysis {

/// assets/samples/h200-errors.csv, which the build puts in.
[[nodiscard]] std::string_view published_errors_text();

}  // namespace attnscope::analysis
