// SPDX-License-Identifier: Apache-2.0
// Parts of a manifest: arguments of a launch (buffers, numbers, tensor maps and structures), compiler and its options.
#pragma once

#include <string>
#include <string_view>
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

/// Options that change the code and write no files, in NVRTC's spelling. Throws ManifestError for others.
[[nodiscard]] std::vector<std::string> parse_source_options(const Value& list);

/// Returns whether `name` is an identifier.
[[nodiscard]] bool is_macro_name(std::string_view);

[[nodiscard]] UserSource::Compiler parse_compiler(const Value&);

/// Sets the source's options, without those that its compiler does not need.
void set_source_options(UserSource&, const std::vector<std::string>& options);

}  // namespace attnscope::user
