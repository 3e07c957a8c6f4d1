// SPDX-License-Identifier: Apache-2.0
// A teacher's own texts, which are laid over the lesson's built-in ones.
#pragma once

#include <filesystem>
#include <vector>

#include "profiler/analysis/lesson/texts.h"

namespace attnscope {

/// Every *.md below the folder, by its path below it, in the order of the paths; none where there is no such folder.
/// Of a large one only the first 2 MiB, which is more than parse_document() takes.
[[nodiscard]] std::vector<analysis::lesson::TextFile> lesson_texts_of(const std::filesystem::path& folder);

/// Of lesson/ in the user's data folder; none without a home.
[[nodiscard]] std::vector<analysis::lesson::TextFile> own_lesson_texts();

}  // namespace attnscope
