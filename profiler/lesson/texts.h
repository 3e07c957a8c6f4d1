// SPDX-License-Identifier: Apache-2.0
// The lesson's texts: built-in ones, and custom ones that replace or extend them. Each file has all languages. Paths
// below assets/lesson/:
//   words.json        texts of buttons and labels
//   glossary.json     definitions of [[terms]]
//   screens/*.json    a screen; its name is its address
//   claims/*.json     a claim
//   homework/*.json   a homework question
// A custom file replaces a built-in one of the same path. Invalid files are skipped and reported.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/homework.h"

namespace attnscope::analysis::lesson {

struct TextFile {
  std::string path;
  std::string text;
  Message read_error{};  ///< error if it was not read; `text` is empty then
};
inline constexpr std::size_t max_text_bytes = std::size_t{1} << 20;

/// A built-in file: text, script or style.
struct EmbeddedText {
  std::string_view path;
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedText> embedded_lesson();
[[nodiscard]] std::string_view embedded_lesson(std::string_view path);
/// Returns whether the path is that of a text, so that a custom file may replace it.
[[nodiscard]] bool is_text_path(std::string_view path);

inline constexpr std::array<std::string_view, 2> languages{"en", "zh"};

struct Choice {
  std::string text{};
  bool right = false;
  std::string why{};  ///< why it is correct, or what it would imply
};

/// A text with its state of the drawing, or a question shown in the drawing.
struct Step {
  std::string picture{};   ///< state of the drawing; empty: as before
  std::string text{};      ///< Markdown
  std::string question{};  ///< Markdown; empty: no question
  std::vector<Choice> choices{};
  std::string hint{};
};

struct Screen {
  std::string id{};
  std::string title{};
  double order = 0;
  std::vector<Step> steps{};
  // Notes of the lecturer.
  double minutes = 0;
  std::string say{};
  std::string ask{};
  std::string answer{};
};

struct LessonTexts {
  std::string language;
  std::map<std::string, std::string, std::less<>> words{};
  Glossary terms{};
  std::vector<Screen> screens{};
  std::vector<Claim> claims{};
  std::vector<HomeworkQuestion> homework{};
  std::vector<Message> problems{};

  /// Returns the key in brackets if there is no text.
  [[nodiscard]] std::string label_text(std::string_view key) const;
};

/// States of the drawing, in the order of the screens.
[[nodiscard]] std::span<const std::string> picture_names();

/// Loads the texts of a language; `more` replaces or extends the built-in ones. Claims may name user-defined kernels of
/// the registry.
[[nodiscard]] LessonTexts load_lesson(std::string_view language, std::span<const TextFile> more = {},
                                      const Registry& = built_in_algorithms());

}  // namespace attnscope::analysis::lesson
