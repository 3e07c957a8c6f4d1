// SPDX-License-Identifier: Apache-2.0
// A text of the lesson: a front matter of `key: value` lines between two `---`, then Markdown (cmark), in which HTML,
// links and images are shown as text. Problems are reported with their line. Directives, each on its own line:
//
//   ::picture NAME       inserts a picture
//   ::question ID        a question, up to the next empty line:
//     its text, then `- [ ] choice :: consequence` and `- [x] choice :: reason`, then `::hint ...`
//
// Inline: $formula$ (formula.h), $$formula$$ (block), {{value}}, [[term]] or [[term|displayed text]]; a backslash
// escapes them. Values are names in values.h and are filled in from the data, so texts contain no measured numbers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope::analysis::lesson {

struct TextProblem {
  std::string file{};
  int line = 0;  ///< from 1; 0: the whole file
  Message why{};
};
/// Formats a problem: "claims/mine.md:4: ...".
[[nodiscard]] Message display_text(const TextProblem&);

struct Choice {
  std::string text{};
  bool right = false;
  std::string explanation{};  ///< why it is correct, or what it would imply
};

struct Question {
  std::string id{};
  std::string prompt{};
  std::vector<Choice> choices{};
  std::string hint{};
};

struct Block {
  enum class Kind { text, picture, question };
  Kind kind = Kind::text;
  int line = 0;
  std::string text{};  ///< Markdown, or the picture's name
  Question question{};
};

class FrontMatter {
 public:
  struct Entry {
    std::string value;
    int line = 0;
  };
  [[nodiscard]] const std::string* find(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  /// Parses a number: 4096, 4k, 0.5; nullopt if absent or invalid.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  [[nodiscard]] int line_of(std::string_view key) const;
  std::map<std::string, Entry, std::less<>> entries{};
};

struct Document {
  std::string file{};
  FrontMatter front{};
  std::vector<Block> blocks{};
};

inline constexpr std::size_t max_text_bytes = std::size_t{1} << 20;

/// The valid parts of a text, and all problems by line.
struct ParsedDocument {
  Document document{};
  std::vector<TextProblem> problems{};
};
/// Tests for valid names of {{values}} and [[terms]].
struct KnownNames {
  std::function<bool(std::string_view)> value;
  std::function<bool(std::string_view)> term;
};
[[nodiscard]] ParsedDocument parse_document(std::string file, std::string_view text, const KnownNames&);
/// Checks the inline marks of a Markdown text that starts at `line`.
[[nodiscard]] std::vector<TextProblem> check_marks(const std::string& file, int line, std::string_view text,
                                                   const KnownNames&);
[[nodiscard]] std::vector<std::string_view> values_in(std::string_view text);

struct MarkRenderer {
  std::function<std::string(std::string_view name)> value;
  std::function<std::string(std::string_view term, std::string_view said)> term;
};
[[nodiscard]] std::string markdown_html(std::string_view text, const MarkRenderer&);
/// Returns the HTML of one paragraph without the <p> element.
[[nodiscard]] std::string line_html(std::string_view text, const MarkRenderer&);

}  // namespace attnscope::analysis::lesson
