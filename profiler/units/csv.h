// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// Prefixes `'` to text that a spreadsheet would evaluate as a formula (=, +, -, @, tab, CR). Apply to text only, not
/// to numbers. unescape_formula() removes the prefix.
[[nodiscard]] std::string escape_formula(std::string text);
[[nodiscard]] std::string_view unescape_formula(std::string_view field);
/// Returns `text` as a CSV field: escape_formula(), quoted per RFC 4180 and also if it begins or ends with a space.
[[nodiscard]] std::string quote_csv_field(std::string_view text);

}  // namespace attnscope
