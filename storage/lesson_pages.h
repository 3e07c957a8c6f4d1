// SPDX-License-Identifier: Apache-2.0
// The lesson as files for a browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "profiler/lesson/texts.h"
#include "profiler/points/point_table.h"
#include "storage/output_file.h"
#include "storage/run_store.h"

namespace attnscope {

struct LessonWish {
  std::string language = "en";      ///< of index.html
  std::string start{};              ///< as WebOptions has it
  std::uint64_t seed = 0;           ///< as WebOptions has it
  std::string data{};               ///< what the points are called
  std::string theme{};              ///< as WebOptions has it
  std::filesystem::path answers{};  ///< a page of answers, for who teaches; empty: none
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

/// `folder`/index.html in the language that is asked for, and LANG.html in every other, which link to each other. The
/// lesson is of the newest GPU of the points, with the newest of `ceilings` that are its. Throws StorageError.
[[nodiscard]] WrittenLesson write_lesson(const std::filesystem::path& folder,
                                         std::span<const analysis::lesson::TextFile> own_texts,
                                         const analysis::PointTable& points, std::span<const StoredCeilings> ceilings,
                                         const LessonWish& wish);

}  // namespace attnscope
