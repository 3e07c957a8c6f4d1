// SPDX-License-Identifier: Apache-2.0
// A teacher's own texts, which are laid over the lesson's built-in ones.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "profiler/lesson/texts.h"
#include "storage/output_file.h"

namespace attnscope {

/// Every *.md below the folder, by its path below it, in the order of the paths; none where there is no such folder.
/// What is not read (a link that leads out of it, a device, what is too large, what nobody may read, a text under
/// another name than *.md) stands among them with the reason. Hidden files and editors' copies (x~) are passed over.
[[nodiscard]] std::vector<analysis::lesson::TextFile> lesson_texts_of(const std::filesystem::path& folder);

/// Writes every text that is built in below the folder, to edit: all of them or none. How many. Throws StorageError; a
/// file that is there is replaced only with Existing::any.
std::size_t write_lesson_texts(const std::filesystem::path& folder, OutputFile::Existing);

/// Of lesson/ in the user's data folder; none without a home.
[[nodiscard]] std::vector<analysis::lesson::TextFile> own_lesson_texts();

}  // namespace attnscope
