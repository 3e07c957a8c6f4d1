// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_files.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/files/regular_file.h"
#include "profiler/files/file_error.h"
#include "profiler/files/file_system.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
namespace lesson = analysis::lesson;
using lesson::TextFile;

std::string file_of(std::string_view language, const LessonFileOptions& options) {
  return language == options.language ? "index.html" : std::string(language) + ".html";
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw FileError(FileError::Kind::not_writable, "cannot create folder {}: {}", folder.string(), error.message());
  }
}

}  // namespace

WrittenLesson write_lesson(const fs::path& folder, std::span<const TextFile> custom_texts,
                           const lesson::Evidence& evidence, const LessonFileOptions& options) {
  make_folder(folder);
  const FileKind kind{"an attnscope lesson", [](std::string_view first) {
                        return first.find("content=\"attnscope lesson\"") != std::string_view::npos;
                      }};
  WrittenLesson written;
  std::vector<OutputFile> files;
  std::set<std::string> told;
  for (const std::string_view language : lesson::languages) {
    const lesson::LessonTexts texts = lesson::load_lesson(language, custom_texts);
    lesson::WebOptions web = options.page;
    for (const std::string_view other : lesson::languages) {
      if (other != language) web.others.emplace_back(other, file_of(other, options));
    }
    OutputFile& file = files.emplace_back(folder / file_of(language, options), kind, options.existing);
    file.write(lesson::lesson_page(texts, evidence, web));
    const bool first = language == options.language;
    written.pages.insert(first ? written.pages.begin() : written.pages.end(), file.final_path());
    written.screens = texts.screens.size();
    written.claims = texts.claims.size();
    // Most problems are found in every language: report each once.
    std::ranges::copy_if(texts.problems, std::back_inserter(written.problems),
                         [&](const Message& each) { return told.insert(text(each)).second; });
  }
  // Commit linked pages together.
  for (OutputFile& file : files) file.commit();
  return written;
}

std::vector<TextFile> read_lesson_texts(const fs::path& folder) {
  std::vector<TextFile> files;
  const fs::path root = folder.has_filename() ? folder : folder.parent_path();  // the path may end in a slash
  const auto add = [&](const fs::path& path, std::string text, Message read_error) {
    const std::string name = path.lexically_relative(root).generic_string();
    files.push_back({printable(name), std::move(text), std::move(read_error)});
  };
  std::error_code error;
  if (!fs::is_directory(root, error)) return files;
  // Does not follow links, because texts may come from other people.
  fs::recursive_directory_iterator entry(root, error);
  fs::path last = root;
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path& path = last = entry->path();
    std::error_code unknown;
    const fs::file_status status = entry->symlink_status(unknown);
    const std::string name = path.filename().string();
    if (name.starts_with('.') || name.ends_with('~')) {
      entry.disable_recursion_pending();
    } else if (path.extension() == ".json" && fs::is_regular_file(status)) {
      auto text = read_regular_file(path, lesson::max_text_bytes);
      add(path, text.ok() ? *text : std::string(), text.ok() ? Message() : text.error());
    } else if (!fs::is_directory(status) && (entry.depth() > 0 || path.extension() == ".json")) {
      add(path, {}, "ignored: not a regular file ending in .json");
    }
  }
  if (error) add(last, {}, make_message("cannot read folder: {}", error.message()));
  std::ranges::stable_sort(files, {}, &TextFile::path);
  return files;
}

std::size_t write_lesson_texts(const fs::path& folder, OutputFile::ExistingFile existing) {
  const FileKind kind{"an empty file", [](std::string_view first) { return first.empty(); }};
  std::vector<OutputFile> files;
  for (const lesson::EmbeddedText& each : lesson::embedded_lesson()) {
    if (!lesson::is_text_path(each.path)) continue;
    const fs::path target = folder / each.path;
    make_folder(target.parent_path());
    files.emplace_back(target, kind, existing).write(each.text);
  }
  for (OutputFile& file : files) file.commit();
  return files.size();
}

std::vector<TextFile> custom_lesson_texts() {
  const fs::path folder = data_folder();
  return folder.empty() ? std::vector<TextFile>() : read_lesson_texts(folder / "lesson");
}

}  // namespace attnscope
