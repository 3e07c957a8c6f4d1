// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/source_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/erase.hpp>

#include "profiler/metrics/manifest.h"

namespace attnscope::gpu {
namespace {

/// Returns the end of the character, string or raw literal that begins at `at`.
std::size_t find_literal_end(std::string_view text, std::size_t at) {
  if (at > 0 && text[at - 1] == 'R' && text[at] == '"') {
    const std::size_t open = std::min(text.find('(', at), text.size());
    const std::string close = fmt::format("){}\"", text.substr(at + 1, open - at - 1));
    const std::size_t end = text.find(close, open);
    return end == std::string_view::npos ? text.size() : end + close.size();
  }
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at] || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

bool begins_literal(std::string_view text, std::size_t at) {
  const bool digits = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;  // 1'000
  return text[at] == '"' || (text[at] == '\'' && !digits);
}

/// Collapses blanks outside literals and trims the ends.
std::string collapse_blanks(std::string_view line) {
  std::string words;
  bool blank = false;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = begins_literal(line, at) ? find_literal_end(line, at) : at + 1;
    const bool is_blank = std::isspace(static_cast<unsigned char>(line[at])) != 0;
    if (!is_blank) {
      if (blank && !words.empty()) words += ' ';
      words.append(line, at, end - at);
    }
    blank = is_blank;
    at = end;
  }
  return words;
}

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class NormalizedSource {
 public:
  explicit NormalizedSource(std::span<const EmbeddedSource> sources) : sources_(sources) {}

  void add(std::string_view path) {
    const auto source = std::ranges::find(sources_, path, &EmbeddedSource::path);
    if (source == sources_.end()) {
      line(fmt::format("#include \"{}\"", path));
      return;
    }
    // A file that was included within a condition may have been inactive there.
    const auto before = std::ranges::find(met_, path, &IncludedFile::path);
    const bool once = source->text.find("#pragma once") != std::string_view::npos;
    if (before != met_.end() && once) {
      if (before->is_conditional) line(fmt::format("#again {}", before - met_.begin()));
      return;
    }
    met_.push_back({std::string(path), conditions_ > 0});
    std::istringstream lines(strip_comments(std::string(source->text)));
    for (std::string each; std::getline(lines, each);) {
      const std::string words = collapse_blanks(each);
      if (words.starts_with('#')) {
        directive(words);
      } else if (!words.empty()) {
        if (!text_.empty() && text_.back() != '\n') text_ += ' ';
        text_ += words;
      }
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  struct IncludedFile {
    std::string path;
    bool is_conditional = false;
  };

  void line(std::string_view text) {
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    text_.append(text).push_back('\n');
  }

  void directive(std::string_view text) {
    constexpr std::string_view include = "#include \"";
    if (text == "#pragma once") return;
    if (text.starts_with(include)) {
      add(text.substr(include.size(), text.find('"', include.size()) - include.size()));
      return;
    }
    if (text.starts_with("#if")) ++conditions_;
    if (text.starts_with("#endif")) --conditions_;
    line(text);
  }

  std::span<const EmbeddedSource> sources_;
  std::vector<IncludedFile> met_;
  int conditions_ = 0;
  std::string text_;
};

}  // namespace

std::string replace_words(std::string_view text, const std::function<std::string(std::string_view)>& replacement) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    result += replacement(text.substr(at, end - at));
    at = end;
  }
  return result;
}

std::string strip_comments(std::string text) {
  for (const char* continuation : {"\\\r\n", "\\\n"}) boost::erase_all(text, continuation);
  std::string plain;
  const std::string_view view = text;
  for (std::size_t i = 0; i < view.size();) {
    if (view.substr(i, 2) == "//") {
      i = std::min(view.find('\n', i), view.size());
    } else if (view.substr(i, 2) == "/*") {
      const std::size_t end = view.find("*/", i + 2);
      i = end == std::string_view::npos ? view.size() : end + 2;
      plain += ' ';
    } else if (begins_literal(view, i)) {
      const std::size_t end = find_literal_end(view, i);
      plain.append(view, i, end - i);
      i = end;
    } else {
      plain += view[i++];
    }
  }
  return plain;
}

std::string normalized_source(std::string_view file, std::span<const EmbeddedSource> sources) {
  NormalizedSource text(sources);
  text.add(file);
  return text.take();
}

std::string source_digest(std::string_view file) {
  static std::mutex mutex;
  static std::map<std::string, std::string, std::less<>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(file);
  if (found != known.end()) return found->second;
  return known.emplace(file, uuid_of(normalized_source(file, embedded_sources()))).first->second;
}

}  // namespace attnscope::gpu
