// SPDX-License-Identifier: Apache-2.0
// The lesson's texts: built-in ones, and custom ones that replace or extend them. Paths below assets/lesson/:
//   LANG/words.md            texts of buttons and labels, one per line of the front matter
//   LANG/glossary.md         definitions of [[terms]], one per line of the front matter
//   LANG/screen-*.md         a screen; sorted by `order`
//   LANG/plan.json           the lecturer's plan
//   claims/*.json            a claim
//   homework/*.json          a homework question
// A custom file replaces a built-in one of the same path. Invalid files are skipped and reported with the line. Unknown
// keys in a screen's front matter are reported and ignored.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/homework.h"
#include "profiler/lesson/lesson_values.h"
#include "profiler/lesson/plan.h"

namespace attnscope::analysis::lesson {

struct TextFile {
  std::string path;
  std::string text;
  Message read_error{};  ///< error if it was not read; `text` is empty then
};

/// A built-in file: text, script or style.
struct EmbeddedText {
  std::string_view path;
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedText> embedded_lesson();
[[nodiscard]] std::string_view embedded_lesson(std::string_view path);

/// Returns the built-in languages: "en", "zh".
[[nodiscard]] std::vector<std::string> lesson_languages();

struct Step {
  std::string slug{};
  std::string title{};
  double order = 0;
  Setting setting{};
  std::vector<Block> blocks{};  ///< each picture is a state of the drawing, for the texts and questions after it
};

struct LessonTexts {
  std::string language;
  /// `term.WORD` and `title.NAME` translate parts of point descriptions and algorithm titles.
  std::map<std::string, std::string, std::less<>> words{};
  std::map<std::string, std::string, std::less<>> terms{};  ///< glossary: one sentence per term
  std::vector<Step> steps{};
  std::vector<Claim> claims{};
  std::vector<HomeworkQuestion> homework{};
  LessonPlan plan{};
  std::vector<TextProblem> problems{};

  /// Returns the key in brackets if there is no text.
  [[nodiscard]] std::string label_text(std::string_view key) const;
  /// Translates a line made by describe() or a mask's name ("heads 16 causal") token by token with `term.WORD`. For
  /// "window:128:0" the part before the first colon is looked up. Unknown tokens stay unchanged.
  [[nodiscard]] std::string translated(std::string_view line) const;
  /// Returns the algorithm's own title if the language has no `title.NAME`.
  [[nodiscard]] std::string title_of(const Algorithm&) const;
};

/// States of the drawing, in the order of the screens.
[[nodiscard]] const std::vector<std::string>& picture_names();

/// Loads the texts of a language; `more` replaces or extends the built-in ones. Never throws: unreadable files are
/// reported as problems.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more = {});
/// Same, with user-defined kernels that steps and claims may name.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more, const Registry&);

}  // namespace attnscope::analysis::lesson
