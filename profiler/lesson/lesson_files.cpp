// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/lesson_files.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/files/regular_file.h"
#include "kernels/registry.h"
#include "profiler/files/file_error.h"
#include "profiler/files/file_system.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
namespace lesson = analysis::lesson;
using lesson::TextFile;

bool is_lesson(std::string_view first) {
  return first.find("content=\"attnscope lesson\"") != std::string_view::npos;
}

std::string file_of(const std::string& language, const LessonFileOptions& options) {
  return language == options.language ? "index.html" : language + ".html";
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw FileError(FileError::Kind::not_writable, "cannot create folder {}: {}", folder.string(), error.message());
  }
}

/// Reads files below a folder. Does not follow links, because texts may come from other people.
class TextFolder {
 public:
  explicit TextFolder(const fs::path& root)
      : root_(root.has_filename() ? root : root.parent_path()) {  // the path may end in a slash
    std::error_code error;
    if (fs::is_directory(root_, error)) read_folder(root_);  // the folder is optional
    std::ranges::stable_sort(files_, {}, &TextFile::path);
  }

  std::vector<TextFile> files() && { return std::move(files_); }

 private:
  void add(const fs::path& path, std::string text, Message read_error = {}) {
    const std::string name = path.lexically_relative(root_).generic_string();
    // Show invalid UTF-8 names in printable form.
    files_.push_back({first_invalid_utf8(name) == std::string::npos ? name : printable(name), std::move(text),
                      std::move(read_error)});
  }

  void read_folder(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      const fs::path& path = entry->path();
      const std::string file = path.filename().string();
      if (file.starts_with('.') || file.ends_with('~')) continue;  // backup and hidden files
      std::error_code unknown;
      const fs::file_status own = entry->symlink_status(unknown);
      const bool text = path.extension() == ".md" || path.extension() == ".json";
      if (fs::is_directory(own)) {
        read_folder(path);
      } else if (text && fs::is_regular_file(own)) {
        read_text(path);
      } else if (text || folder != root_) {
        add(path, {}, "ignored: not a regular file ending in .md or .json");
      }
    }
    if (error) add(folder, {}, make_message("cannot read folder: {}", error.message()));
  }

  void read_text(const fs::path& path) {
    auto text = read_regular_file(path, lesson::max_text_bytes);
    if (text) return add(path, std::move(text).value());
    add(path, {}, text.error());
  }

  fs::path root_;
  std::vector<TextFile> files_;
};

}  // namespace

lesson::Evidence make_evidence(const analysis::PointTable& points) {
  lesson::Evidence evidence{
      .points = points, .rows = {}, .gpu = known_gpus().front(), .registry = built_in_algorithms()};
  std::string newest;
  for (const analysis::Run& run : points.runs()) {
    if (run.provenance == Provenance::imported || run.started_at < newest) continue;
    newest = run.started_at;
    evidence.gpu = run.limits;
  }
  for (const analysis::Row row : points.rows()) {
    if (newest.empty() || same_gpu(points.run(row).limits.name, evidence.gpu.name)) evidence.rows.push_back(row);
  }
  return evidence;
}

WrittenLesson write_lesson(const fs::path& folder, std::span<const lesson::TextFile> custom_texts,
                           const lesson::Evidence& evidence, const LessonFileOptions& options) {
  make_folder(folder);
  const FileKind kind{"an attnscope lesson", is_lesson};
  WrittenLesson written;
  std::vector<OutputFile> files;
  std::set<std::string> told;
  for (const std::string& language : lesson::lesson_languages()) {
    const lesson::LessonTexts texts = lesson::load_lesson(language, custom_texts);
    lesson::WebOptions web = options.page;
    for (const std::string& other : lesson::lesson_languages()) {
      if (other != language) web.others.emplace_back(other, file_of(other, options));
    }
    OutputFile& file = files.emplace_back(folder / file_of(language, options), kind, options.existing);
    file.write(lesson::lesson_page(texts, evidence, web));
    written.pages.insert(language == options.language ? written.pages.begin() : written.pages.end(),
                         {file.final_path(), texts.steps.size(), texts.claims.size()});
    // Claims are read once per language: report each problem once.
    std::ranges::copy_if(texts.problems, std::back_inserter(written.problems),
                         [&](const lesson::TextProblem& each) { return told.insert(text(display_text(each))).second; });
  }
  // Commit linked pages together.
  for (OutputFile& file : files) file.commit();
  return written;
}

std::vector<TextFile> read_lesson_texts(const fs::path& folder) {
  return TextFolder(folder).files();
}

std::size_t write_lesson_texts(const fs::path& folder, OutputFile::ExistingFile existing) {
  const FileKind kind{"an empty file", [](std::string_view first) { return first.empty(); }};
  std::vector<OutputFile> files;
  for (const analysis::lesson::EmbeddedText& each : analysis::lesson::embedded_lesson()) {
    if (!each.path.ends_with(".md") && !each.path.ends_with(".json")) continue;
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
