// SPDX-License-Identifier: Apache-2.0
// The lecturer's plan of LANG/plan.json: a printable page with the minutes, words and question of each screen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"

namespace attnscope::analysis::lesson {

struct LessonPlan {
  /// All texts but `screen` are Markdown.
  struct Row {
    std::string screen{};  ///< slug of the step
    std::string title{};
    int minutes = 0;
    std::string say{};
    std::string ask{};
    std::string answer{};
  };
  std::string title{};
  std::string before{};
  std::vector<Row> rows{};
  std::string after{};

  [[nodiscard]] int minutes() const;
};

[[nodiscard]] std::optional<LessonPlan> read_plan(const std::string& file, std::string_view text,
                                                  std::string_view language, const KnownNames&,
                                                  std::vector<TextProblem>& problems);

/// Returns a self-contained HTML page that prints on one sheet.
[[nodiscard]] std::string plan_page(const LessonTexts&, const Evidence&);

}  // namespace attnscope::analysis::lesson
