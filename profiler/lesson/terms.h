// SPDX-License-Identifier: Apache-2.0
// Names of algorithms, problems and points in the lesson's language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/pictures.h"
#include "profiler/lesson/player.h"
#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

/// A line such as describe() or a mask's name makes it, word by word: words of which the language's words.md has a
/// `term.WORD` are that ("heads 16 causal" with `term.heads`, `term.causal`); of "window:128:0" what stands before the
/// first colon is looked up. All else stays.
[[nodiscard]] std::string translated(const LessonTexts&, std::string_view line);

/// The language's `title.NAME`, else the algorithm's own title.
[[nodiscard]] std::string title_of(const LessonTexts&, const Algorithm&);

/// Whether a device loads ahead of the program: a sentence for all kernels that do alike, with their names before it
/// where not all do.
[[nodiscard]] std::vector<std::string> load_orders(const LessonTexts&, const TilePlayer&);

}  // namespace attnscope::analysis::lesson
