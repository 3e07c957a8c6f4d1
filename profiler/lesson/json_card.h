// SPDX-License-Identifier: Apache-2.0
// Typed access to a JSON file of the lesson in one language. A text is a string, a list of paragraphs, or an object
// with either per language; its marks are checked. Problems name the file and the member.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/lesson_text.h"

namespace attnscope::analysis::lesson {

class JsonCard {
 public:
  /// `path`: "claims/mine.json".
  JsonCard(const std::string& path, std::string_view text, std::string_view language, const Glossary&);

  /// File name without folder and extension.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] bool has(std::string_view key) const { return members_.contains(key); }
  /// Names of all members.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Joins paragraphs. Returns an empty text if the member is absent; the first language's text if `language` has none.
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::string required_text(std::string_view key);
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  [[nodiscard]] double number(std::string_view key, double otherwise) { return number(key).value_or(otherwise); }
  [[nodiscard]] std::optional<double> number(std::string_view key);
  [[nodiscard]] std::string keyword(std::string_view key, const std::vector<std::string>& known);
  /// Returns a member as it is; null if absent.
  [[nodiscard]] nlohmann::json value(std::string_view key);
  /// Returns the objects of a list.
  [[nodiscard]] std::vector<JsonCard> objects(std::string_view key);

  /// Lets {{name}} in the texts read after this.
  void add_value_name(const std::string& name) { file_->value_names.insert(name); }
  void report_invalid(std::string_view key, const Message& expected);
  /// Reports unknown members.
  void finish();
  /// Problems of the whole file; empty if it can be used.
  [[nodiscard]] const std::vector<Message>& problems() const { return file_->problems; }

 private:
  /// Shared by the objects of a file.
  struct File {
    std::string path;
    std::string language;
    const Glossary& terms;
    std::set<std::string, std::less<>> value_names{};
    std::vector<Message> problems{};
  };
  JsonCard(std::shared_ptr<File> file, std::string place, nlohmann::json members)
      : file_(std::move(file)), place_(std::move(place)), members_(std::move(members)) {}

  void report(const Message& why) { file_->problems.push_back(make_message("{}: {}", file_->path, why)); }

  std::shared_ptr<File> file_;
  std::string place_;  ///< "steps[1]."; empty for the file's own members
  nlohmann::json members_ = nlohmann::json::object();
  std::set<std::string, std::less<>> used_;
};

/// Returns whether the text can be part of an address and a key of answers: at most 60 letters, digits and hyphens,
/// starting with a letter or digit.
[[nodiscard]] bool is_name(std::string_view);

}  // namespace attnscope::analysis::lesson
