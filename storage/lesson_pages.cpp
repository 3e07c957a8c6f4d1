// SPDX-License-Identifier: Apache-2.0
#include "storage/lesson_pages.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "kernels/registry.h"
#include "messages/file_kind.h"
#include "messages/lesson.h"
#include "profiler/analysis/lesson/pictures.h"
#include "profiler/analysis/lesson/web.h"
#include "storage/measured_rates.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
namespace lesson = analysis::lesson;

bool is_lesson(std::string_view first) {
  return first.find("content=\"attnscope lesson\"") != std::string_view::npos;
}
bool are_answers(std::string_view first) {
  return first.find("content=\"attnscope lesson answers\"") != std::string_view::npos;
}

/// Claims are read in every language: what is wrong with one is told once.
void add_problems(std::vector<lesson::TextProblem>& all, const std::vector<lesson::TextProblem>& more) {
  for (const lesson::TextProblem& each : more) {
    const auto same = [&](const lesson::TextProblem& known) {
      return known.file == each.file && known.line == each.line && text(known.why) == text(each.why);
    };
    if (std::ranges::none_of(all, same)) all.push_back(each);
  }
}

std::string file_of(const std::string& language, const LessonWish& wish) {
  return language == wish.language ? "index.html" : language + ".html";
}

}  // namespace

WrittenLesson write_lesson(const fs::path& folder, std::span<const lesson::TextFile> own_texts,
                           const analysis::PointTable& points, std::span<const StoredCeilings> ceilings,
                           const LessonWish& wish) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw StorageError(StorageError::Kind::not_writable,
                       say::lesson::no_place{.folder = folder.string(), .why = error.message()});
  }
  lesson::Evidence evidence{
      .points = points, .rows = points.rows(), .gpu = lesson::newest_gpu(points), .registry = built_in_algorithms()};
  if (const StoredCeilings* rates = newest_rates(ceilings, evidence.gpu)) evidence.ceilings = rates->ceilings;

  const FileKind kind{said<say::file_kind::lesson>, is_lesson};
  WrittenLesson written;
  std::vector<OutputFile> files;
  std::string answers;
  for (const std::string& language : lesson::lesson_languages()) {
    const lesson::LessonTexts texts = lesson::load_lesson(language, own_texts);
    lesson::WebOptions options{.seed = wish.seed, .data = wish.data, .start = wish.start, .theme = wish.theme};
    for (const std::string& other : lesson::lesson_languages()) {
      if (other != language) options.others.emplace_back(other, file_of(other, wish));
    }
    OutputFile& file = files.emplace_back(folder / file_of(language, wish), kind, wish.existing);
    file.write(lesson::lesson_page(texts, evidence, options));
    const bool asked = language == wish.language;
    written.pages.insert(asked ? written.pages.begin() : written.pages.end(),
                         {file.place(), texts.steps.size(), texts.claims.size()});
    add_problems(written.problems, texts.problems);
    if (asked) answers = lesson::answers_page(texts, evidence, options);
  }
  if (!wish.answers.empty()) {
    for (const OutputFile& page : files) {
      if (fs::weakly_canonical(page.place()) != fs::weakly_canonical(wish.answers)) continue;
      throw StorageError(StorageError::Kind::not_writable,
                         say::lesson::answers_over_page{.file = wish.answers.string()});
    }
    files.emplace_back(wish.answers, FileKind{said<say::file_kind::lesson_answers>, are_answers}, wish.existing)
        .write(answers);
  }
  // Pages that link to each other come together or not at all.
  for (OutputFile& file : files) file.commit();
  return written;
}

}  // namespace attnscope
