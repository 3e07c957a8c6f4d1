// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/source_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "profiler/metrics/statement.h"

namespace attnscope::gpu {
namespace {

bool is_blank_character(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Lines that end in a backslash go on.
std::string joined_lines(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\\n")) {
      ++i;
    } else {
      joined += text[i];
    }
  }
  return joined;
}

class CompiledText {
 public:
  explicit CompiledText(std::span<const EmbeddedSource> sources) : sources_(sources) {}

  void add(std::string_view path) {
    const auto source = std::ranges::find(sources_, path, &EmbeddedSource::path);
    if (source == sources_.end()) {
      line(fmt::format("#include \"{}\"", path));
      return;
    }
    // What stands within a condition the first time may not be read there.
    const auto before = std::ranges::find(met_, path, &Met::path);
    const bool once = source->text.find("#pragma once") != std::string_view::npos;
    if (before != met_.end() && once) {
      if (before->within_condition) line(fmt::format("#again {}", before - met_.begin()));
      return;
    }
    met_.push_back({std::string(path), conditions_ > 0});
    scan(joined_lines(source->text));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  struct Met {
    std::string path;
    bool within_condition = false;
  };

  void line(std::string_view text) {
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    text_.append(text).push_back('\n');
  }

  /// Where what begins at `at` ends: a comment or a quoted text; `at` itself where neither does.
  static std::size_t end_of(std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
    if (rest.starts_with("/*")) return std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    const bool digits = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;  // 1'000
    if (text[at] != '"' && (text[at] != '\'' || digits)) return at;
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2U : 1U;
    return std::min(end + 1, text.size());
  }

  void scan(const std::string& text) {
    std::string of_line;
    bool blank = true;
    const auto end_directive = [&] {
      directive(of_line);
      of_line.clear();
      blank = false;
    };
    bool in_directive = false;
    bool line_begins = true;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = end_of(text, at);
      const bool comment = end > at && text[at] == '/';
      if (comment || is_blank_character(text[at])) {
        const bool new_line = text[at] == '\n';
        if (new_line && in_directive) end_directive();
        in_directive = in_directive && !new_line;
        line_begins = line_begins || new_line;
        blank = true;
        at = std::max(end, at + 1);
        continue;
      }
      if (line_begins && text[at] == '#') in_directive = true;
      line_begins = false;
      std::string& out = in_directive ? of_line : text_;
      if (blank && !out.empty() && out.back() != '\n') out += ' ';
      blank = false;
      out.append(text, at, std::max(end, at + 1) - at);
      at = std::max(end, at + 1);
    }
    if (in_directive) end_directive();
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
  std::vector<Met> met_;
  int conditions_ = 0;
  std::string text_;
};

}  // namespace

std::string compiled_text(std::string_view file, std::span<const EmbeddedSource> sources) {
  CompiledText text(sources);
  text.add(file);
  return text.take();
}

std::string source_digest(std::string_view file) {
  static std::mutex mutex;
  static std::map<std::string, std::string, std::less<>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(file);
  if (found != known.end()) return found->second;
  return known.emplace(file, uuid_of(compiled_text(file, embedded_sources()))).first->second;
}

}  // namespace attnscope::gpu
