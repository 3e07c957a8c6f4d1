// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace attnscope {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Edits that turn a into b: insert, delete, change, or exchange two neighbours (optimal string alignment).
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

}  // namespace

std::string format_iec_bytes(std::int64_t bytes) {
  static constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024 && bytes > -1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while ((value >= 1024 || value <= -1024) && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::vector<std::string> near_matches(std::string_view word, std::span<const std::string> candidates,
                                      std::size_t limit) {
  const std::string wanted = lower(word);
  const std::size_t tolerance = std::max<std::size_t>(1, wanted.size() / 3);
  std::vector<std::pair<std::size_t, const std::string*>> ranked;
  for (const std::string& candidate : candidates) {
    const std::string text = lower(candidate);
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

std::string join_or(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace attnscope
