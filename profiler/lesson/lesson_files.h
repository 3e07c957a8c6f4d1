// SPDX-License-Identifier: Apache-2.0
// Writes the lesson as HTML files, and reads custom texts that replace built-in ones.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "profiler/files/output_file.h"
#include "profiler/lesson/lesson_page.h"

namespace attnscope {

struct LessonFileOptions {
  std::string language = "en";          ///< language of index.html
  analysis::lesson::WebOptions page{};  ///< without `others`
  OutputFile::ExistingFile existing = OutputFile::ExistingFile::same_kind;
};

struct WrittenLesson {
  std::vector<std::filesystem::path> pages{};  ///< index.html first
  std::size_t screens = 0;
  std::size_t claims = 0;
  std::vector<Message> problems{};
};

/// Writes `folder`/index.html in the requested language and LANG.html in every other one, linked to each other. Throws
/// FileError.
[[nodiscard]] WrittenLesson write_lesson(const std::filesystem::path& folder,
                                         std::span<const analysis::lesson::TextFile> custom_texts,
                                         const analysis::lesson::Evidence&, const LessonFileOptions&);

/// Reads every *.json in the folder and below, sorted by relative path; empty if the folder does not exist. Files of
/// subfolders that are not read (links, devices, too large, no permission, other extensions) are included with the
/// reason. Hidden and backup files (x~) are ignored.
[[nodiscard]] std::vector<analysis::lesson::TextFile> read_lesson_texts(const std::filesystem::path& folder);

/// Writes all built-in texts below the folder for editing, or none. Returns their number. Throws FileError; existing
/// files are replaced only with ExistingFile::any.
std::size_t write_lesson_texts(const std::filesystem::path& folder, OutputFile::ExistingFile);

/// Reads lesson/ in the user's data folder; empty without a home directory.
[[nodiscard]] std::vector<analysis::lesson::TextFile> custom_lesson_texts();

}  // namespace attnscope
