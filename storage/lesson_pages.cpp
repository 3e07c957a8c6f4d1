// SPDX-License-Identifier: Apache-2.0
#include "storage/lesson_pages.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "kernels/registry.h"
#include "profiler/lesson/pictures.h"
#include "profiler/lesson/web.h"
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
    throw StorageError(StorageError::Kind::not_writable, "cannot make the folder {}: {}", folder.string(),
                       error.message());
  }
  lesson::Evidence evidence{
      .points = points, .rows = points.rows(), .gpu = lesson::newest_gpu(points), .registry = built_in_algorithms()};
  if (const StoredCeilings* rates = newest_rates(ceilings, evidence.gpu)) evidence.ceilings = rates->ceilings;

  const FileKind kind{"a lesson of attnscope's", is_lesson};
  WrittenLesson written;
  std::vector<OutputFile> files;
  std::string answers;
  std::set<std::string> told;
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
    // Claims are read in every language: what is wrong with one is told once.
    std::ranges::copy_if(texts.problems, std::back_inserter(written.problems),
                         [&](const lesson::TextProblem& each) { return told.insert(text(words_of(each))).second; });
    if (asked) answers = lesson::answers_page(texts, evidence, options);
  }
  if (!wish.answers.empty()) {
    for (const OutputFile& page : files) {
      if (fs::weakly_canonical(page.place()) != fs::weakly_canonical(wish.answers)) continue;
      throw StorageError(StorageError::Kind::not_writable,
                         "{} is a page of the lesson itself: the answers need another place", wish.answers.string());
    }
    files.emplace_back(wish.answers, FileKind{"the answers to a lesson of attnscope's", are_answers}, wish.existing)
        .write(answers);
  }
  // Pages that link to each other come together or not at all.
  for (OutputFile& file : files) file.commit();
  return written;
}

}  // namespace attnscope
