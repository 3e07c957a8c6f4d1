// SPDX-License-Identifier: Apache-2.0
#include "storage/lesson_texts.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "profiler/measure/host_environment.h"

namespace attnscope {

namespace fs = std::filesystem;

std::vector<analysis::lesson::TextFile> lesson_texts_of(const fs::path& folder) {
  // More than a text may have (document.h), so that who reads a larger one says so.
  constexpr std::streamsize most = std::streamsize{1} << 21;
  std::vector<analysis::lesson::TextFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unreadable;
    if (!entry->is_regular_file(unreadable) || entry->path().extension() != ".md") continue;
    std::string text(static_cast<std::size_t>(most), '\0');
    std::ifstream file(entry->path(), std::ios::binary);
    file.read(text.data(), most);
    text.resize(static_cast<std::size_t>(file.gcount()));
    text.shrink_to_fit();  // thousands of them are kept
    files.push_back({entry->path().lexically_relative(folder).generic_string(), std::move(text)});
  }
  std::ranges::sort(files, {}, &analysis::lesson::TextFile::path);
  return files;
}

std::vector<analysis::lesson::TextFile> own_lesson_texts() {
  const fs::path folder = data_folder();
  return folder.empty() ? std::vector<analysis::lesson::TextFile>() : lesson_texts_of(folder / "lesson");
}

}  // namespace attnscope
