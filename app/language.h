// SPDX-License-Identifier: Apache-2.0
// The language of labels and sentences about results: of the window, reports and the lesson.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

/// Uses the catalogue of a language, "zh"; returns false where there is none. Before any thread.
bool use_language(std::string_view language);
/// "en or zh"
[[nodiscard]] std::string languages_in_words();

}  // namespace attnscope
