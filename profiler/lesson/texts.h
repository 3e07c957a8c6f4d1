// SPDX-License-Identifier: Apache-2.0
// The lesson's texts: what is built in, and what a teacher lays over it. Files by their path below assets/lesson/:
//   LANG/words.md            one word or sentence a line of the front matter: what buttons and labels say
//   LANG/glossary.md         a term a line of the front matter: what [[terms]] in the texts mean
//   LANG/step-*.md           a step, in the order of its `order`
//   claims/*.md              a card, all of it a front matter, with `title.LANG` and `text.LANG`
// A file of the same path replaces ours, another is added; one that is broken is left out and named, with its line.
// What a step's front matter has and nothing takes is named, too, and the step stands without it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/playing.h"
#include "profiler/lesson/values.h"

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
  double order = 0;       ///< below 1 it stands before the first and has no number
  std::string next{};     ///< what a button to the page after it says; empty: there is none
  std::string explore{};  ///< an algorithm to go on with in the explorer
  Setting setting{};
  Playing playing{};
  std::vector<Block> blocks{};
};

struct LessonTexts {
  std::string language;
  /// By key. `term.WORD` and `title.NAME` say words of points, and algorithms, in the language.
  std::map<std::string, std::string, std::less<>> words{};
  std::map<std::string, std::string, std::less<>> terms{};  ///< of the glossary, a sentence each
  std::vector<Step> steps{};
  std::vector<Claim> claims{};
  std::vector<TextProblem> problems{};

  /// The key itself, in brackets, where nobody wrote a word for it.
  [[nodiscard]] std::string word(std::string_view key) const;
  /// A line such as describe() or a mask's name makes it, word by word: words of which the language has a `term.WORD`
  /// are that ("heads 16 causal"); of "window:128:0" what stands before the first colon is looked up. All else stays.
  [[nodiscard]] std::string translated(std::string_view line) const;
  /// The algorithm's own where the language has no `title.NAME`.
  [[nodiscard]] std::string title_of(const Algorithm&) const;
};

/// Names of what ::picture takes.
[[nodiscard]] const std::vector<std::string>& picture_names();

/// `more` are laid over the built-in texts. Never throws: what cannot be read is among the problems.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more = {});
/// With algorithms of one's own for steps and claims to name.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more, const Registry&);

}  // namespace attnscope::analysis::lesson
