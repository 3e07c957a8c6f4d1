// SPDX-License-Identifier: Apache-2.0
// Text that may say anything, as HTML: it stays text. Reports and lessons write it.
#pragma once

#include <string>
#include <string_view>

namespace attnscope::analysis {

/// For HTML, SVG and the values of their attributes. Bytes that are no UTF-8, control characters and marks that turn
/// the direction of writing are spelled out (printable()).
[[nodiscard]] std::string markup(std::string_view text);
/// The same of text of several lines, which stay lines.
[[nodiscard]] std::string markup_lines(std::string_view text);

}  // namespace attnscope::analysis
