// SPDX-License-Identifier: Apache-2.0
// Words for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Up to `limit` of `candidates` that `word` may have been meant for, nearest first: few edits away, or containing it.
[[nodiscard]] std::vector<std::string> near_matches(std::string_view word, std::span<const std::string> candidates,
                                                    std::size_t limit = 3);

/// What a message quotes of what the user wrote: of a long text its beginning.
[[nodiscard]] std::string shortened(std::string_view text);

/// Of ASCII letters alone.
[[nodiscard]] std::string lower_case(std::string_view text);

/// "a", "a or b", "a, b or c"
[[nodiscard]] std::string join_or(std::span<const std::string> words);

/// The place of the first byte that is no UTF-8 text, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);

/// For a terminal: control characters, marks that turn the direction of writing and bytes that are no UTF-8 are spelled
/// out ("\x1b", "\u202e"), so that a file's text cannot steer what shows it.
[[nodiscard]] std::string printable(std::string_view text);

/// For HTML, SVG, XML and the values of their attributes: text stays text. printable() spells out what it does.
[[nodiscard]] std::string markup(std::string_view text);
/// The same of text of several lines, which stay lines.
[[nodiscard]] std::string markup_lines(std::string_view text);

}  // namespace attnscope
