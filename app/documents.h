// SPDX-License-Identifier: Apache-2.0
// The documents of assets/docs, built in.
#pragma once

#include <span>
#include <string_view>

namespace attnscope {

struct Document {
  std::string_view file;  ///< "install.md": its topic and ".md"
  std::string_view text;  ///< Markdown; the first line is the licence's, the next one the title
};
/// In the order in which one reads them.
[[nodiscard]] std::span<const Document> documents();

}  // namespace attnscope
