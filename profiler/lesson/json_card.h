// SPDX-License-Identifier: Apache-2.0
// Typed access to the members of a JSON file of the lesson: a claim or a homework question. A text is a string, or an
// object with a string per language. Problems name the file, the line and the member.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "profiler/lesson/lesson_text.h"

namespace attnscope::analysis::lesson {

class JsonCard {
 public:
  JsonCard(std::string file, std::string_view text, std::string_view language);

  /// File name without folder and extension.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] bool has(std::string_view key) const { return card_.contains(key); }
  /// Returns an empty text if the member is absent; the first language's text if `language` has none.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::string required_text(std::string_view key);
  /// Returns the strings of a list per language, or of one text.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  [[nodiscard]] std::optional<double> number(std::string_view key);
  [[nodiscard]] std::string keyword(std::string_view key, const std::vector<std::string>& known);
  [[nodiscard]] const Algorithm* algorithm(std::string_view key, const Registry&);
  /// Returns an object as it is; null if absent.
  [[nodiscard]] nlohmann::json object(std::string_view key);

  void report_missing(std::string_view key);
  void report_invalid(std::string_view key, const Message& expected);
  /// Reports unknown members, and {{values}} and [[terms]] in `texts` that do not exist. Appends all problems. Returns
  /// whether there are none.
  [[nodiscard]] bool finish(std::initializer_list<std::string> texts, const KnownNames&, std::vector<TextProblem>&);

 private:
  [[nodiscard]] int line_of(std::string_view key) const;
  const nlohmann::json* find(std::string_view key);
  /// The text in the card's language; null if it is neither a string nor a list.
  [[nodiscard]] const nlohmann::json* in_language(const nlohmann::json&) const;

  std::string file_;
  std::string source_;
  std::string language_;
  nlohmann::json card_ = nlohmann::json::object();
  bool parsed_ = false;
  std::set<std::string, std::less<>> used_;
  std::vector<TextProblem> problems_;
};

}  // namespace attnscope::analysis::lesson
