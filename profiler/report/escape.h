// SPDX-License-Identifier: Apache-2.0
// Text that may say anything, made safe for where it is put: it stays text.
#pragma once

#include <string>
#include <string_view>

#include "profiler/points/markup.h"

namespace attnscope::report {

using analysis::markup;
/// For a line or a table's cell of Markdown: nothing in it is markup, a link, HTML or the end of the cell.
[[nodiscard]] std::string markdown(std::string_view text);
/// `text` between so many backticks that none of its own ends it. For whole lines of code.
[[nodiscard]] std::string markdown_block(std::string_view text);

}  // namespace attnscope::report
