// SPDX-License-Identifier: Apache-2.0
// Typed access to the values of a front matter. Invalid values and unused keys are reported with their line and
// otherwise ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/lesson_text.h"

namespace attnscope::analysis::lesson {

class FrontMatterReader {
 public:
  explicit FrontMatterReader(const Document& document) : document_(document) {}

  /// Returns an empty string if the key is absent.
  [[nodiscard]] std::string text(std::string_view key);
  /// Same as text(), but an absent key is a problem.
  [[nodiscard]] std::string required_text(std::string_view key);
  [[nodiscard]] std::optional<double> number(std::string_view key);
  /// Returns a whole number in [low, high], or `otherwise`.
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t otherwise, std::int64_t low, std::int64_t high);

  /// Reports an invalid value. `allowed`: description of valid ones.
  void report_invalid(std::string_view key, const Message& allowed);
  /// Reports a missing part of the file.
  void report_missing(std::string_view what);
  /// Returns all problems by line, including unused keys. Call last.
  [[nodiscard]] std::vector<TextProblem> finish();

 private:
  const std::string* mark_used(std::string_view key);

  const Document& document_;
  std::set<std::string, std::less<>> taken_;
  std::vector<TextProblem> problems_;
};

/// Returns whether the text is a valid slug or name of a question or claim: letters, digits and hyphens, at most 60
/// characters, starting with a letter or digit. These names become URLs and keys of answers.
[[nodiscard]] bool is_name(std::string_view);
[[nodiscard]] Message no_name(std::string_view);

[[nodiscard]] std::string truncate_text(std::string_view text);

}  // namespace attnscope::analysis::lesson
