// SPDX-License-Identifier: Apache-2.0
// The lesson's texts: what is built in, and what a teacher lays over it. Files by their path below assets/lesson/:
//   LANG/words.md            one word or sentence a line of the front matter: what buttons and labels say
//   LANG/glossary.md         a term a line of the front matter: what [[terms]] in the texts mean
//   LANG/step-*.md           a step, in the order of its `order`
//   claims/*.md              a card; its front matter holds `title.LANG`, its text stands below `## LANG`
// A file of the same path replaces ours, another is added; one that is broken is left out and named, with its line.
// What a step's front matter has and nothing takes is named, too, and the step stands without it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/lesson_text.h"

namespace attnscope {
class Registry;
}

namespace attnscope::analysis::lesson {

/// A file of texts; `path` as above.
struct TextFile {
  std::string path;
  std::string text;
  Message trouble{};  ///< why it was not read; its text is empty then
};

/// What was built in, texts, script and style.
struct EmbeddedText {
  std::string_view path;
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedText> embedded_lesson();
/// Empty for one that there is not.
[[nodiscard]] std::string_view embedded_lesson(std::string_view path);

/// "en", "zh": folders that are built in.
[[nodiscard]] std::vector<std::string> lesson_languages();

struct Step {
  std::string slug{};  ///< "ledger"
  std::string title{};
  double order = 0;        ///< below 1 it stands before the first and has no number
  std::string language{};  ///< that it is written in: another one where nobody wrote it in the lesson's
  Document document{};
};

struct ClaimCard {
  std::string id{};  ///< the file's name
  std::string title{};
  std::string source{};  ///< "000, section 1.2", in the language where the card has it
  std::string order{};   ///< the source as every language sorts by it
  Document document{};   ///< its blocks in the language, its front matter whole
};

struct LessonTexts {
  std::string language;
  std::map<std::string, std::string, std::less<>> words{};
  /// What the programs say in sentences, by the message's id, where the language's words.md has them
  /// ("load_order.ring").
  std::map<std::string, std::string, std::less<>> messages{};
  std::map<std::string, std::string, std::less<>> terms{};  ///< of the glossary, a sentence each
  std::vector<Step> steps{};
  std::vector<ClaimCard> claims{};
  std::vector<TextProblem> problems{};

  /// In the lesson's language where it has the sentence; else as the program says it.
  [[nodiscard]] std::string sentence(const Message&) const;

  /// The key itself, in brackets, where nobody wrote a word for it.
  [[nodiscard]] std::string word(std::string_view key) const;
};

/// `more` are laid over the built-in texts. Never throws: what cannot be read is among the problems.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more = {});
/// With algorithms of one's own for steps and claims to name.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more, const Registry&);

}  // namespace attnscope::analysis::lesson
