// SPDX-License-Identifier: Apache-2.0
// lesson: writes the lesson as HTML pages from recorded points, or its texts for editing.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "app/program.h"
#include "app/user_kernels.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/lesson/lesson_files.h"
#include "profiler/lesson/texts.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
namespace lesson = analysis::lesson;

struct LessonOptions {
  std::vector<std::string> files;
  std::string folder;
  std::string language = "en";
  std::string texts;
  std::string filter;
  std::uint64_t seed = 0;
  std::string answers;
  bool force = false;

  [[nodiscard]] OutputFile::ExistingFile existing() const {
    return force ? OutputFile::ExistingFile::any : OutputFile::ExistingFile::same_kind;
  }
};

std::vector<lesson::TextFile> custom_texts(const LessonOptions& options) {
  if (!options.texts.empty()) {
    if (!fs::is_directory(options.texts)) {
      throw CommandError(ExitCode::error, "--texts {}: no such folder", options.texts);
    }
    std::vector<lesson::TextFile> files = read_lesson_texts(options.texts);
    if (files.empty())
      spdlog::warn("{}", format_text("{} has no texts (*.md); using the built-in texts", options.texts));
    return files;
  }
  return custom_lesson_texts();
}

std::vector<std::string> names_of(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const std::string& file : files) names.push_back(fs::path(file).filename().string());
  return names;
}

ExitCode export_lesson(const LessonOptions& options) {
  const std::vector<std::string> files = files_or_samples(options.files, lesson_samples());
  const std::vector<lesson::TextFile> own = custom_texts(options);
  const LoadedPoints loaded = load_points(files, options.filter);
  if (loaded.table.empty()) spdlog::warn("{}", "no points in these files; figures that need them are empty");
  lesson::Evidence evidence = make_evidence(loaded.table);
  if (const StoredCeilings* rates = newest_rates(loaded.ceilings, evidence.gpu)) evidence.ceilings = rates->ceilings;
  const WrittenLesson written =
      write_lesson(options.folder, own, evidence,
                   {.language = options.language,
                    .page{.seed = options.seed, .data = fmt::format("{}", fmt::join(names_of(files), ", "))},
                    .answers = options.answers,
                    .existing = options.existing()});
  for (const lesson::TextProblem& problem : written.problems)
    spdlog::warn("{}", printable(text(display_text(problem))));
  for (const WrittenLesson::Page& page : written.pages) {
    std::cout << format_text("{}: {} screens, {} claims", printable(page.file.string()), page.steps,
                             page.claims)
              << '\n';
  }
  if (loaded.code != ExitCode::ok) return loaded.code;
  return written.problems.empty() ? ExitCode::ok : ExitCode::partial;
}

ExitCode write_texts(const LessonOptions& options) {
  const std::size_t count = write_lesson_texts(options.folder, options.existing());
  std::cout << format_text("{}: {} texts (delete the ones that you do not change)", printable(options.folder), count)
            << '\n';
  return ExitCode::ok;
}

}  // namespace

Action add_lesson(CLI::App& command) {
  auto options = std::make_shared<LessonOptions>();
  add_kernel_option(command);
  CLI::App& write = *command.add_subcommand("export");
  command.require_subcommand(1);
  write.add_option("FILE", options->files, ".attnscope files with the points to show (default: the recorded samples)");
  write.add_option("-o,--output", options->folder, "Output folder for index.html and LANG.html")
      ->type_name("FOLDER")
      ->required();
  add_language_option(write, options->language, "Language of index.html");
  write.add_option("--seed", options->seed, "Number that varies N and d in the exercises")->check(integer_at_least(1));
  write
      .add_option("--texts", options->texts,
                  "Folder with texts that replace built-in ones (default: $XDG_DATA_HOME/attnscope/lesson)")
      ->type_name("FOLDER");
  add_filter_option(write, options->filter);
  write.add_option("--answers", options->answers, "Also write a page with the answers")->type_name("FILE");
  write.add_flag("--force", options->force, "Overwrite an index.html of another kind");
  CLI::App& texts = *command.add_subcommand("texts");
  texts.add_option("-o,--output", options->folder, "Output folder")->type_name("FOLDER")->required();
  texts.add_flag("--force", options->force, "Overwrite existing texts");
  return [options, &texts] { return texts.parsed() ? write_texts(*options) : export_lesson(*options); };
}

}  // namespace attnscope
