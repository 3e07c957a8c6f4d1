// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/own_source.h"

#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "messages/compile.h"
#include "profiler/measure/gpu/source_text.h"

namespace attnscope::gpu {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> text_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return std::nullopt;
  return std::move(text).str();
}

struct Include {
  std::string name;
  bool quoted = false;
};

/// Of a line "  #  include <name>".
std::optional<Include> include_of(std::string_view line) {
  const auto skip_blanks = [&] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  };
  for (const std::string_view part : {"#", "include"}) {
    skip_blanks();
    if (!line.starts_with(part)) return std::nullopt;
    line.remove_prefix(part.size());
  }
  skip_blanks();
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return std::nullopt;
  const bool quoted = line.front() == '"';
  line.remove_prefix(1);
  const std::size_t end = line.find(quoted ? '"' : '>');
  if (end == std::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(0, end)), quoted};
}

/// The files that a source is made of, each once, with their texts.
class Closure {
 public:
  explicit Closure(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

  void add(const fs::path& file, const std::string& text) {
    if (!seen_.insert(file.lexically_normal()).second) return;
    all_ += fmt::format("{} {}\n{}\n", file.filename().string(), text.size(), text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (const auto include = include_of(line)) follow(file, *include);
    }
  }
  [[nodiscard]] const std::string& all() const { return all_; }

 private:
  void follow(const fs::path& from, const Include& include) {
    std::vector<fs::path> folders;
    if (include.quoted) folders.push_back(from.parent_path());
    folders.insert(folders.end(), folders_.begin(), folders_.end());
    for (const fs::path& folder : folders) {
      const fs::path file = folder / include.name;
      const auto text = text_of(file);
      if (!text) continue;
      add(file, *text);
      return;
    }
  }

  std::vector<fs::path> folders_;
  std::set<fs::path> seen_;
  std::string all_;
};

}  // namespace

std::vector<fs::path> include_folders_of(const OwnSource& source, const std::vector<fs::path>& toolkit) {
  std::vector<fs::path> folders{source.file.parent_path()};
  folders.insert(folders.end(), source.include_folders.begin(), source.include_folders.end());
  folders.insert(folders.end(), toolkit.begin(), toolkit.end());
  return folders;
}

Result<OwnText, Message> read_own_source(const OwnSource& source, const std::vector<fs::path>& toolkit) {
  auto text = text_of(source.file);
  if (!text) return Failure<Message>{say::compile::own_unreadable{.file = source.file.string()}};
  Closure closure(include_folders_of(source, toolkit));
  if (source.kind == OwnSource::Kind::cuda) closure.add(source.file, *text);
  const std::string& read = source.kind == OwnSource::Kind::cuda ? closure.all() : *text;
  return OwnText{.text = *text, .digest = uuid_of(fmt::format("{}\n{}", source.statement, read))};
}

Result<OwnText, Message> OwnSources::read(const std::shared_ptr<const OwnSource>& source,
                                          const std::vector<fs::path>& toolkit) const {
  auto read = read_own_source(*source, toolkit);
  if (!read) return read;
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = digests_.emplace(source, read->digest);
  if (known->second == read->digest) return read;
  return Failure<Message>{say::compile::own_changed{.file = source->file.string()}};
}

}  // namespace attnscope::gpu
