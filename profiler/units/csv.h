// SPDX-License-Identifier: Apache-2.0
// Fields of a CSV table.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// A text that a spreadsheet would run as a formula gets an apostrophe before it, which spreadsheets hide and
/// without_guard() takes away. Of texts alone; numbers stay as they are.
[[nodiscard]] std::string guarded(std::string text);
[[nodiscard]] std::string_view without_guard(std::string_view field);
/// A text as a field: RFC 4180, guarded(), and quoted also where readers would strip spaces.
[[nodiscard]] std::string csv_text(std::string_view text);

}  // namespace attnscope
