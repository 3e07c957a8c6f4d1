// SPDX-License-Identifier: Apache-2.0
// Compiler and compiler options of a user-defined source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/user/manifest_value.h"

namespace attnscope::user {

/// Options that change the code and write no files, in NVRTC's spelling. Throws ManifestError for others.
[[nodiscard]] std::vector<std::string> parse_source_options(const Value& list);

/// Returns whether `name` is an identifier.
[[nodiscard]] bool is_macro_name(std::string_view);

[[nodiscard]] UserSource::Compiler parse_compiler(const Value&);

/// Sets the source's options, without those that its compiler does not need.
void set_source_options(UserSource&, const std::vector<std::string>& options);

}  // namespace attnscope::user
