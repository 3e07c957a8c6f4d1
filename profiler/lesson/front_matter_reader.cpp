// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/front_matter_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace attnscope::analysis::lesson {

const std::string* FrontMatterReader::mark_used(std::string_view key) {
  taken_.emplace(key);
  return document_.front.find(key);
}

std::string FrontMatterReader::text(std::string_view key) {
  const std::string* value = mark_used(key);
  return value == nullptr ? std::string() : *value;
}

std::string FrontMatterReader::required_text(std::string_view key) {
  std::string value = text(key);
  if (value.empty()) report_missing(fmt::format("'{}'", key));
  return value;
}

std::optional<double> FrontMatterReader::number(std::string_view key) {
  if (mark_used(key) == nullptr) return std::nullopt;
  const std::optional<double> value = document_.front.number(key);
  if (!value) report_invalid(key, "expected a number");
  return value;
}

std::int64_t FrontMatterReader::whole(std::string_view key, std::int64_t otherwise, std::int64_t low,
                                      std::int64_t high) {
  if (mark_used(key) == nullptr) return otherwise;
  const std::optional<double> value = document_.front.number(key);
  const bool fits = value && *value == std::floor(*value) && *value >= static_cast<double>(low) &&
                    *value <= static_cast<double>(high);
  if (fits) return static_cast<std::int64_t>(*value);
  report_invalid(key, make_message("expected a whole number from {} to {}", grouped(low), grouped(high)));
  return otherwise;
}

void FrontMatterReader::report_invalid(std::string_view key, const Message& allowed) {
  problems_.push_back({document_.file, document_.front.line_of(key),
                       make_message("invalid '{}: {}': {}", key, truncate_text(document_.front.text(key)), allowed)});
}

void FrontMatterReader::report_missing(std::string_view what) {
  problems_.push_back({document_.file, 1, make_message("missing {} in the front matter", what)});
}

std::vector<TextProblem> FrontMatterReader::finish() {
  for (const auto& [key, entry] : document_.front.entries) {
    if (taken_.contains(key)) continue;
    problems_.push_back(
        {document_.file, entry.line,
         make_message("unknown key '{}' (available: {})", truncate_text(key), fmt::join(taken_, ", "))});
  }
  std::ranges::stable_sort(problems_, {}, &TextProblem::line);
  return std::move(problems_);
}

bool is_name(std::string_view name) {
  constexpr std::size_t most = 60;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= most && plain(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
}

Message no_name(std::string_view text) {
  return make_message("invalid name '{}' (at most 60 letters, digits and hyphens; not starting with a hyphen)",
                      truncate_text(text));
}

std::string truncate_text(std::string_view text) {
  constexpr std::size_t most = 60;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace attnscope::analysis::lesson
