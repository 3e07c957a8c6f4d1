// SPDX-License-Identifier: Apache-2.0
// A text of the lesson as it is written: a front matter of `key: value` lines between two `---`, then a stated subset
// of Markdown. A file that cannot be read says its line.
//
//   # ... to ### ...     headings
//   - ...                lists; a line that goes on is indented
//   $$ ... $$            a formula on a line of its own (formula.h)
//   ```                  code, to the next ```
//   ::picture NAME       where a picture stands
//   ::revealed           the next paragraph is shown when the predictions of the page are
//   ::question ID        a question, to the next empty line after its choices:
//     its text, then `- [ ] choice :: what it would imply` and `- [x] choice :: why`, then `::hint ...`
//   anything else        paragraphs, which an empty line ends
//   *em* **strong** `code` $formula$ {{value}} [[term]] or [[term|as it is said here]] within lines; a backslash before
//   any of * ` $ { [ takes its meaning away
//
// A value is a name of values.h that the engine fills in: texts hold no number that the data decide.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  enum class Kind { paragraph, heading, list, formula, code, picture, question };
  Kind kind = Kind::paragraph;
  int line = 0;
  std::string text{};     ///< also the picture's name
  bool revealed = false;  ///< a paragraph that says what is predicted
  int level = 0;          ///< of a heading
  std::vector<std::string> items{};
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

  [[nodiscard]] bool ok() const { return problems.empty(); }
};
/// `known_value` says which {{names}} there are.
[[nodiscard]] ParsedDocument parse_document(std::string file, std::string_view text,
                                            const std::function<bool(std::string_view)>& known_value);

/// A piece of a line.
struct Span {
  enum class Kind { text, em, strong, code, formula, value, term };
  Kind kind = Kind::text;
  std::string text{};
};
/// Pre: the text is of a document that was parsed.
[[nodiscard]] std::vector<Span> spans_of(std::string_view text);

/// The term of a span, and what it is said as.
[[nodiscard]] std::pair<std::string_view, std::string_view> term_of(std::string_view text);

/// What gives a {{name}} and a [[term]] as HTML.
struct LineHtml {
  std::function<std::string(std::string_view name)> value;
  std::function<std::string(std::string_view term, std::string_view said)> term;
};
[[nodiscard]] std::string line_html(std::string_view text, const LineHtml&);

}  // namespace attnscope::analysis::lesson
