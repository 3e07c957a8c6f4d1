// SPDX-License-Identifier: Apache-2.0
// lesson export: the lesson as one page for any browser, from recorded points.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/loaded_points.h"
#include "messages/command.h"
#include "messages/file_kind.h"
#include "messages/lesson.h"
#include "profiler/analysis/lesson/stage.h"
#include "profiler/analysis/lesson/web.h"
#include "profiler/plan/text.h"
#include "storage/lesson_texts.h"
#include "storage/measured_rates.h"
#include "storage/output_file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
namespace lesson = analysis::lesson;

struct LessonOptions {
  std::vector<std::string> files;
  std::string folder;
  std::string language = "en";
  std::string texts;
  std::uint64_t seed = 0;
  bool force = false;
};

bool is_lesson(std::string_view first) {
  return first.find("content=\"attnscope lesson\"") != std::string_view::npos;
}

/// Where an installed program has the recorded samples.
std::vector<std::string> installed_samples() {
  std::error_code error;
  const fs::path folder =
      fs::read_symlink("/proc/self/exe", error).parent_path().parent_path() / "share" / "attnscope" / "samples";
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".attnscope") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<lesson::TextFile> own_texts(const LessonOptions& options) {
  if (!options.texts.empty()) {
    if (!fs::is_directory(options.texts)) {
      throw CommandError(ExitCode::usage, say::lesson::no_folder{.folder = options.texts});
    }
    std::vector<lesson::TextFile> files = lesson_texts_of(options.texts);
    if (files.empty()) spdlog::warn("{}", text(say::lesson::empty_folder{.folder = options.texts}));
    return files;
  }
  return own_lesson_texts();
}

std::vector<std::string> names_of(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const std::string& file : files) names.push_back(fs::path(file).filename().string());
  return names;
}

ExitCode export_lesson(const LessonOptions& options) {
  const std::vector<std::string> languages = lesson::lesson_languages();
  if (std::ranges::count(languages, options.language) == 0) {
    throw CommandError(ExitCode::usage,
                       say::lesson::unknown_language{.word = options.language,
                                                     .known = fmt::format("{}", fmt::join(languages, ", "))});
  }
  const std::vector<std::string> files = options.files.empty() ? installed_samples() : options.files;
  if (files.empty()) throw CommandError(ExitCode::usage, say::lesson::no_file{});

  const lesson::LessonTexts texts = lesson::load_lesson(options.language, own_texts(options));
  ExitCode code = ExitCode::ok;
  for (const lesson::TextProblem& problem : texts.problems) {
    spdlog::warn("{}", printable(text(words_of(problem))));
    code = ExitCode::partial;
  }
  const LoadedPoints loaded = load_points(files);
  if (loaded.code != ExitCode::ok) code = loaded.code;
  const DeviceLimits gpu = lesson::newest_gpu(loaded.table);
  const StoredCeilings* rates = newest_rates(loaded.ceilings, gpu);
  if (loaded.table.empty()) spdlog::warn("{}", text(say::lesson::no_points{}));
  const lesson::Evidence evidence{.points = loaded.table,
                                  .rows = loaded.table.rows(),
                                  .gpu = gpu,
                                  .ceilings = rates == nullptr ? std::vector<Ceiling>() : rates->ceilings,
                                  .registry = built_in_algorithms()};
  const std::string page = lesson::lesson_page(
      texts, evidence, {.seed = options.seed, .data = fmt::format("{}", fmt::join(names_of(files), ", "))});

  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    throw CommandError(ExitCode::error, say::lesson::no_place{.folder = options.folder, .why = error.message()});
  }
  const FileKind kind{said<say::file_kind::lesson>, is_lesson};
  OutputFile file(fs::path(options.folder) / "index.html", kind,
                  options.force ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind);
  file.write(page);
  file.commit();
  std::cout << text(say::lesson::written{.file = printable(file.place().string()),
                                         .steps = texts.steps.size(),
                                         .claims = texts.claims.size()})
            << '\n';
  return code;
}

}  // namespace

Action add_lesson(CLI::App& command) {
  auto options = std::make_shared<LessonOptions>();
  CLI::App& write =
      *command.add_subcommand("export", "Write the lesson as one page for any browser, without a request");
  command.require_subcommand(1);
  write.add_option("FILE", options->files,
                   ".attnscope files whose points it stands on (default: the recorded samples that are installed)");
  write.add_option("-o,--output", options->folder, "Folder to write index.html to")->type_name("FOLDER")->required();
  write.add_option("--lang", options->language, "Language of its texts: en or zh")->capture_default_str();
  write.add_option("--seed", options->seed, "Vary N and d of the sheets by this number, so that homework differs")
      ->check(whole_number_from(1));
  write
      .add_option("--texts", options->texts,
                  "Texts of your own, laid over the built-in ones (default: lesson/ below attnscope's data folder)")
      ->type_name("FOLDER");
  write.add_flag("--force", options->force, "Replace an index.html of something else, too");
  return [options] { return export_lesson(*options); };
}

}  // namespace attnscope
