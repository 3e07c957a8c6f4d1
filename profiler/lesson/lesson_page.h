// SPDX-License-Identifier: Apache-2.0
// The lesson as one self-contained HTML page: one drawing with the texts, questions, claims and data of all screens.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

struct WebOptions {
  std::uint64_t seed = 0;  ///< varies the questions' numbers and the order of their choices; 0: as in the texts
  std::string data{};      ///< title of the data: a file name
  std::string start{};     ///< slug or number of the first page; empty: the last one visited
  std::string theme{};     ///< "dark" or "light"; empty: the system's, or the reader's choice
  /// Other languages and their files: {"zh", "zh.html"}.
  std::vector<std::pair<std::string, std::string>> others{};
};

/// Returns the page. Pictures without data are replaced by a note.
[[nodiscard]] std::string lesson_page(const LessonTexts&, const Evidence&, const WebOptions& = {});

}  // namespace attnscope::analysis::lesson
