// SPDX-License-Identifier: Apache-2.0
// The values of a front matter, one by one. What a key does not take is a problem with its line and counts as not
// written; so does a key that nothing asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "profiler/lesson/lesson_text.h"

namespace attnscope::analysis::lesson {

class FrontReader {
 public:
  FrontReader(const Document& document, const Registry& registry) : document_(document), registry_(registry) {}

  /// Empty where it is not there.
  [[nodiscard]] std::string text(std::string_view key);
  /// The same, and a problem.
  [[nodiscard]] std::string needed(std::string_view key);
  [[nodiscard]] std::optional<double> number(std::string_view key);
  /// Within [low, high].
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t otherwise, std::int64_t low, std::int64_t high);
  [[nodiscard]] std::string one_of(std::string_view key, const std::vector<std::string>& known);
  /// Words with blanks between them.
  [[nodiscard]] std::vector<std::string> words(std::string_view key);
  /// nullptr where it is not there.
  [[nodiscard]] const Algorithm* algorithm(std::string_view key);
  [[nodiscard]] std::vector<const Algorithm*> algorithms(std::string_view key);

  /// `allowed`: what it takes.
  void refuse(std::string_view key, const Message& allowed);
  /// Reports a problem of the whole file.
  void lacks(std::string_view what);
  /// All problems, by line. Pre: every key has been asked for.
  [[nodiscard]] std::vector<TextProblem> finish();

 private:
  const std::string* take(std::string_view key);
  const Algorithm* find(std::string_view key, std::string_view name);

  const Document& document_;
  const Registry& registry_;
  std::set<std::string, std::less<>> taken_;
  std::vector<TextProblem> problems_;
};

/// Of slugs, and the names of questions and claims, which are addresses and keys of answers: letters, digits and
/// hyphens, 60 at most, a letter or digit first.
[[nodiscard]] bool is_name(std::string_view);
/// Rule of is_name(), for messages.
[[nodiscard]] Message no_name(std::string_view);

/// Shortened to what a line has room for.
[[nodiscard]] std::string clipped(std::string_view text);

}  // namespace attnscope::analysis::lesson
