// SPDX-License-Identifier: Apache-2.0
// Texts of the lesson: Markdown (cmark) without HTML, with the marks $formula$, $$formula$$ (a line of its own),
// {{value}} (lesson_values.h), and [[term]] or [[term|displayed text]] of the glossary. A backslash escapes them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::analysis::lesson {

/// One sentence per term.
using Glossary = std::map<std::string, std::string, std::less<>>;

struct MarkRenderer {
  std::function<std::string(std::string_view name)> value;  ///< returns the HTML of {{name}}
  const Glossary* terms = nullptr;                          ///< tooltips of terms; null: terms are plain text
};
/// Renders paragraphs and lists.
[[nodiscard]] std::string markdown_html(std::string_view text, const MarkRenderer&);
/// Renders one paragraph, without the <p> element.
[[nodiscard]] std::string line_html(std::string_view text, const MarkRenderer&);

/// Converts a formula to MathML. Subset of TeX: letters, numbers, operators, ^{}, _{}, \frac{}{}, \sqrt{} and the
/// symbols of formula.cpp. `display`: block formula. The error names the part that is invalid.
[[nodiscard]] Result<std::string, Message> mathml_of(std::string_view formula, bool display);

/// Returns the first problem of the text's marks; empty if there is none. `value_names`: valid besides find_value().
[[nodiscard]] Message marks_problem(std::string_view text, const Glossary&,
                                    const std::set<std::string, std::less<>>& value_names);
/// Returns the names of all {{values}}.
[[nodiscard]] std::vector<std::string_view> values_in(std::string_view text);

}  // namespace attnscope::analysis::lesson
