// SPDX-License-Identifier: Apache-2.0
// The lesson as files for a browser, and a teacher's own texts, which replace built-in ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "profiler/files/output_file.h"
#include "profiler/lesson/texts.h"
#include "profiler/lesson/web.h"

namespace attnscope {

/// All of the points, with the GPU of the newest run that was not imported; of no runs the first of the table of GPUs.
[[nodiscard]] analysis::lesson::Evidence evidence_of(const analysis::PointTable&);

struct LessonFileOptions {
  std::string language = "en";          ///< of index.html
  analysis::lesson::WebOptions page{};  ///< `others` aside
  std::filesystem::path answers{};      ///< a page of answers, for who teaches; empty: none
  OutputFile::Existing existing = OutputFile::Existing::of_its_kind;
};

struct WrittenLesson {
  struct Page {
    std::filesystem::path file{};
    std::size_t steps = 0;
    std::size_t claims = 0;
  };
  std::vector<Page> pages{};                              ///< index.html first
  std::vector<analysis::lesson::TextProblem> problems{};  ///< of the texts of all languages
};

/// `folder`/index.html in the language that is asked for, and LANG.html in every other, which link to each other.
/// Throws FileError.
[[nodiscard]] WrittenLesson write_lesson(const std::filesystem::path& folder,
                                         std::span<const analysis::lesson::TextFile> own_texts,
                                         const analysis::lesson::Evidence&, const LessonFileOptions&);

/// Every *.md below the folder, by its path below it, in the order of the paths; none where there is no such folder.
/// What is not read (a link, a device, what is too large, what nobody may read, a text under another name than *.md)
/// stands among them with the reason. Hidden files and editors' copies (x~) are passed over.
[[nodiscard]] std::vector<analysis::lesson::TextFile> lesson_texts_of(const std::filesystem::path& folder);

/// Writes every text that is built in below the folder, to edit: all of them or none. How many. Throws FileError; a
/// file that is there is replaced only with Existing::any.
std::size_t write_lesson_texts(const std::filesystem::path& folder, OutputFile::Existing);

/// Of lesson/ in the user's data folder; none without a home.
[[nodiscard]] std::vector<analysis::lesson::TextFile> own_lesson_texts();

}  // namespace attnscope
