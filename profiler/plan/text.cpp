// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "kernels/messages/message.h"

namespace attnscope {
namespace {

// Optimal string alignment distance: insertions, deletions, substitutions, and swaps of adjacent characters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t change = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      table[i][j] = std::min({change, table[i - 1][j] + 1, table[i][j - 1] + 1});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

/// Byte length of the leading UTF-8 character; 0 if it is invalid. Pre: `text` is not empty.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) return 0;
  }
  if (length > 2) {  // rejects overlong forms, surrogates and code points beyond Unicode
    const unsigned char second = byte(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F)) {
      return 0;
    }
  }
  return length;
}

/// Returns true for characters of two or three bytes that affect a terminal: C1 controls, bidirectional marks, line
/// breaks.
bool affects_terminal(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3) return false;
  if (byte(0) == 0xEF) return byte(1) == 0xBF && byte(2) >= 0xBE;  // noncharacters, which XML rejects
  if (byte(0) != 0xE2) return false;
  const bool of_2000 = byte(1) == 0x80 && (byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE));
  const bool of_2060 = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return of_2000 || of_2060;
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text.substr(i));
    const std::string_view character = text.substr(i, std::max<std::size_t>(length, 1));
    i += character.size();
    if (length == 0 || first < 0x20 || first == 0x7F) {
      shown += fmt::format("\\x{:02x}", first);
    } else if (affects_terminal(character)) {
      const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(character[k])); };
      const unsigned code =
          length == 2 ? byte(1) : (byte(0) & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
      shown += fmt::format("\\u{:04x}", code);
    } else {
      shown += character;
    }
  }
  return shown;
}

std::string markup(std::string_view text) {
  constexpr std::array<std::pair<char, std::string_view>, 5> entities{
      {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};
  std::string safe;
  for (const char c : printable(text)) {
    const auto* const entity = std::ranges::find(entities, c, &std::pair<char, std::string_view>::first);
    if (entity == entities.end()) {
      safe += c;
    } else {
      safe += entity->second;
    }
  }
  return safe;
}

std::vector<std::string> closest_matches(std::string_view word, std::span<const std::string> candidates,
                                         std::size_t limit) {
  const std::string wanted = lower_case(word);
  const std::size_t tolerance = std::max<std::size_t>(1, wanted.size() / 3);
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& candidate : candidates) {
    const std::string text = lower_case(candidate);
    const std::size_t distance = edit_distance(wanted, text);
    const bool contained = wanted.size() >= 3 && text.find(wanted) != std::string::npos;
    const bool alike = distance <= tolerance && distance < wanted.size();
    if (alike || contained) ranked.emplace_back(distance, &candidate);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, const std::string*>::first);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < ranked.size() && i < limit; ++i) result.push_back(*ranked[i].second);
  return result;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t longest = 60;
  constexpr std::size_t kept = 40;
  if (text.size() <= longest) return std::string(text);
  return format_text("{}... ({} characters)", text.substr(0, kept), text.size());
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string join_or(std::span<const std::string> words) {
  if (words.empty()) return "";
  if (words.size() == 1) return words.front();
  return format_text("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

}  // namespace attnscope
