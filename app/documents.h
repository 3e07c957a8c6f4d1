// SPDX-License-Identifier: Apache-2.0
// Documents of assets/docs, embedded in the program.
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

struct Document {
  std::string_view file;  ///< "install.md": topic and ".md"
  std::string_view text;  ///< Markdown; first line: license, next line: title
};
/// Returns all documents in reading order.
[[nodiscard]] std::span<const Document> documents();

}  // namespace attnscope
