// SPDX-License-Identifier: Apache-2.0
#include "storage/lesson_texts.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "profiler/measure/host_environment.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using analysis::lesson::TextFile;

constexpr std::size_t most_files = 4096;

/// What lies below a folder. Links are followed to files within it alone: texts are handed on between people.
class TextFolder {
 public:
  explicit TextFolder(const fs::path& root)
      : root_(root.has_filename() ? root : root.parent_path()) {  // shells complete a slash
    std::error_code error;
    whole_ = fs::canonical(root, error);
    if (!error) read_folder(root);
    std::ranges::stable_sort(files_, {}, &TextFile::path);
  }

  std::vector<TextFile> files() && { return std::move(files_); }

 private:
  [[nodiscard]] std::string name_of(const fs::path& path) const {
    std::string name = path.lexically_relative(root_).generic_string();
    return first_invalid_utf8(name) == std::string::npos ? name : printable(name);
  }

  void unread(const fs::path& path, Message why) { files_.push_back({name_of(path), {}, std::move(why)}); }

  void read_folder(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (files_.size() >= most_files) {
        if (!full_) unread(folder, make_message("more than {} files: the rest is not read", grouped(most_files)));
        full_ = true;
        return;
      }
      read_entry(*entry);
    }
    // A folder that is not there is no trouble: nobody has to have one.
    if (error) unread(folder, make_message("it cannot be read: {}", error.message()));
  }

  void read_entry(const fs::directory_entry& entry) {
    const fs::path& path = entry.path();
    const std::string file = path.filename().string();
    if (file.starts_with('.') || file.ends_with('~')) return;  // of editors and file managers
    std::error_code error;
    const fs::file_status own = entry.symlink_status(error);
    if (fs::is_directory(own)) return read_folder(path);
    const bool text = path.extension() == ".md";
    if (!text && path.parent_path() == root_) return;
    if (fs::is_symlink(own)) {
      const fs::path there = fs::canonical(path, error);
      if (error) return unread(path, "the link leads nowhere");
      if (std::ranges::mismatch(whole_, there).in1 != whole_.end())
        return unread(path, "the link leads out of the folder: it is not followed");
      if (fs::is_directory(there, error)) return unread(path, "a link to a folder: it is not followed");
    }
    if (!fs::is_regular_file(path, error)) return unread(path, "no regular file: it is not read");
    if (!text) return unread(path, "its name does not end in .md: it is not read");
    read_text(path);
  }

  void read_text(const fs::path& path) {
    constexpr std::size_t most = analysis::lesson::largest_text;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) return unread(path, make_message("it cannot be read: {}", error.message()));
    if (size > most)
      return unread(
          path, make_message("the file is larger than a text of a lesson, which has {} bytes at most", grouped(most)));
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(size), '\0');
    if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad()) {
      return unread(path, make_message("it cannot be read: {}", std::generic_category().message(errno)));
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    std::string name = name_of(path);
    // A name that is no text can be no file of the lesson: it is told under what can be shown of it.
    files_.push_back({std::move(name), std::move(text), {}});
  }

  fs::path root_;
  fs::path whole_;  ///< the same, without links
  std::vector<TextFile> files_;
  bool full_ = false;
};

}  // namespace

std::vector<TextFile> lesson_texts_of(const fs::path& folder) {
  return TextFolder(folder).files();
}

std::size_t write_lesson_texts(const fs::path& folder, OutputFile::Existing existing) {
  const FileKind kind{"an empty place for a text of the lesson", [](std::string_view first) { return first.empty(); }};
  std::vector<OutputFile> files;
  for (const analysis::lesson::EmbeddedText& each : analysis::lesson::embedded_lesson()) {
    if (!each.path.ends_with(".md")) continue;
    const fs::path target = folder / each.path;
    std::error_code error;
    fs::create_directories(target.parent_path(), error);
    if (error) {
      throw StorageError(StorageError::Kind::not_writable, "cannot make the folder {}: {}",
                         target.parent_path().string(), error.message());
    }
    files.emplace_back(target, kind, existing).write(each.text);
  }
  for (OutputFile& file : files) file.commit();
  return files.size();
}

std::vector<TextFile> own_lesson_texts() {
  const fs::path folder = data_folder();
  return folder.empty() ? std::vector<TextFile>() : lesson_texts_of(folder / "lesson");
}

}  // namespace attnscope
