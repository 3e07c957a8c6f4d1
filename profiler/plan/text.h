// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Returns up to `limit` of `candidates` that are within a few edits of `word` or contain it, nearest first.
[[nodiscard]] std::vector<std::string> closest_matches(std::string_view word, std::span<const std::string> candidates,
                                                       std::size_t limit = 3);

/// Abbreviates long user input for quoting in a message.
[[nodiscard]] std::string shortened(std::string_view text);

/// Converts ASCII letters only.
[[nodiscard]] std::string lower_case(std::string_view text);

/// "a", "a or b", "a, b or c"
[[nodiscard]] std::string join_or(std::span<const std::string> words);

/// Byte offset of the first invalid UTF-8 sequence, or npos.
[[nodiscard]] std::size_t first_invalid_utf8(std::string_view text);

/// Escapes control characters, bidirectional marks and invalid UTF-8 for a terminal ("\x1b", "\u202e"), so that text
/// from a file cannot inject escape sequences.
[[nodiscard]] std::string printable(std::string_view text);

/// Escapes text for HTML, SVG and XML, including attribute values. Applies printable() first.
[[nodiscard]] std::string markup(std::string_view text);

inline constexpr std::uint64_t fnv_basis = 0xcbf29ce484222325ULL;
/// 64-bit FNV-1a.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t basis = fnv_basis) {
  for (const char c : text) basis = (basis ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return basis;
}

}  // namespace attnscope
