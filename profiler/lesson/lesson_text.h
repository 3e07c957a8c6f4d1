// SPDX-License-Identifier: Apache-2.0
// A text of the lesson as it is written: a front matter of `key: value` lines between two `---`, then Markdown (cmark),
// in which HTML, links and images are no more than text. A file that cannot be read says its line. Lines of their own:
//
//   ::picture NAME       where a picture stands
//   ::revealed           what follows, to the next empty line, is shown when the predictions of the page are
//   ::question ID        a question, to the next empty line:
//     its text, then `- [ ] choice :: what it would imply` and `- [x] choice :: why`, then `::hint ...`
//
// Within lines: $formula$ (formula.h), $$formula$$ by itself, {{value}}, [[term]] or [[term|as it is said here]]; a
// backslash before them takes their meaning away. A value is a name of values.h that the engine fills in: texts hold no
// number that the data decide.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"

namespace attnscope::analysis::lesson {

/// What is wrong with a file, and where.
struct TextProblem {
  std::string file{};
  int line = 0;  ///< from 1; 0: of the file as a whole
  Message why{};
};
/// "claims/mine.md:4: ..."
[[nodiscard]] Message words_of(const TextProblem&);

struct Choice {
  std::string text{};
  bool right = false;
  std::string because{};  ///< why it is right, or what it would imply
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
  std::string text{};     ///< Markdown, or the picture's name
  bool revealed = false;  ///< it says what is predicted
  Question question{};
};

/// The front matter: words by key.
class Front {
 public:
  struct Entry {
    std::string value;
    int line = 0;
  };
  [[nodiscard]] const std::string* find(std::string_view key) const;
  /// Empty where it is not there.
  [[nodiscard]] std::string text(std::string_view key) const;
  /// What a number stands for: 4096, 4k, 0.5; nothing where it is not there or no number.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  /// Words separated by blanks.
  [[nodiscard]] std::vector<std::string> words(std::string_view key) const;
  [[nodiscard]] int line_of(std::string_view key) const;
  std::map<std::string, Entry, std::less<>> entries{};
};

struct Document {
  std::string file{};
  Front front{};
  std::vector<Block> blocks{};
};

/// The most bytes that a file may have.
inline constexpr std::size_t largest_text = std::size_t{1} << 20;

/// What could be read, and all that is wrong, by line.
struct ParsedDocument {
  Document document{};
  std::vector<TextProblem> problems{};
};
/// Which {{values}} and [[terms]] there are.
struct KnownNames {
  std::function<bool(std::string_view)> value;
  std::function<bool(std::string_view)> term;
};
[[nodiscard]] ParsedDocument parse_document(std::string file, std::string_view text, const KnownNames&);
/// Problems of a Markdown text whose first line is `line`.
[[nodiscard]] std::vector<TextProblem> wrong_marks(const std::string& file, int line, std::string_view text,
                                                   const KnownNames&);
/// The names of its {{values}}.
[[nodiscard]] std::vector<std::string_view> values_in(std::string_view text);

/// What gives a {{name}} and a [[term]] as HTML.
struct MarkHtml {
  std::function<std::string(std::string_view name)> value;
  std::function<std::string(std::string_view term, std::string_view said)> term;
};
[[nodiscard]] std::string markdown_html(std::string_view text, const MarkHtml&);
/// HTML of one paragraph, without its element.
[[nodiscard]] std::string line_html(std::string_view text, const MarkHtml&);

}  // namespace attnscope::analysis::lesson
