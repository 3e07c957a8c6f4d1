// SPDX-License-Identifier: Apache-2.0
// Self-contained HTML pages: the lesson (one drawing with the texts, questions, claims and data of all screens) and the
// lecturer's plan.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

struct WebOptions {
  std::string data{};   ///< title of the data: a file name
  std::string start{};  ///< id or number of the first page; empty: the last one visited
  std::string theme{};  ///< "dark" or "light"; empty: the system's, or the reader's choice
  /// Other languages and their files: {"zh", "zh.html"}.
  std::vector<std::pair<std::string, std::string>> others{};
};
/// Returns the lesson. Pictures without data are replaced by a note.
[[nodiscard]] std::string lesson_page(const LessonTexts&, const Evidence&, const WebOptions& = {});

/// Data of the drawing: {hardware, curves, law, decode, backward, paper, softmax}; parts without data are empty. All
/// numbers that the scripts show come from here.
[[nodiscard]] nlohmann::json scene_json(const Evidence&);
/// Returns SM<->L2 bytes over N, d and M with fitted and theoretical exponents.
[[nodiscard]] nlohmann::json law_json(const Evidence&, std::string_view algorithm);

/// Returns the minutes of all screens.
[[nodiscard]] int minutes_of(const LessonTexts&);
/// Returns the lecturer's plan on one sheet: minutes, words and question of each screen.
[[nodiscard]] std::string plan_page(const LessonTexts&, const Evidence&);

/// Returns the beginning of a page up to </head>, with colors and fonts. `kind`: "lesson"; identifies our files.
[[nodiscard]] std::string page_head(std::string_view kind, std::string_view language, std::string_view title,
                                    std::string_view style);
/// Embeds JSON in a script element.
[[nodiscard]] std::string script_json(std::string_view id, const nlohmann::json&);

}  // namespace attnscope::analysis::lesson
