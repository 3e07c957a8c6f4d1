// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/own_source.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "messages/compile.h"
#include "profiler/metrics/statement.h"
#include "profiler/plan/text.h"

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

/// Of a line "  #  include <name>"; without a name where that is a macro's.
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
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return Include{};  // a macro's value
  const bool quoted = line.front() == '"';
  line.remove_prefix(1);
  const std::size_t end = line.find(quoted ? '"' : '>');
  if (end == std::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(0, end)), quoted};
}

/// Files keep no other names than UTF-8.
std::string readable(std::string name) {
  for (std::size_t at = first_invalid_utf8(name); at != std::string::npos; at = first_invalid_utf8(name))
    name[at] = '?';
  return name;
}

/// The files that a source is made of, each once, with their texts.
class Closure {
 public:
  /// The last `of_toolkit` of the folders are the toolkit's.
  Closure(std::vector<fs::path> folders, std::size_t of_toolkit)
      : folders_(std::move(folders)), own_folders_(folders_.size() - of_toolkit) {}

  void add(const fs::path& file, const std::string& name, const std::string& text, bool own = true) {
    if (!seen_.insert(file.lexically_normal()).second) return;
    all_ += fmt::format("{} {}\n{}\n", file.filename().string(), text.size(), text);
    if (own) files_.push_back({.name = readable(name), .digest = uuid_of(text), .content = text});
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto include = include_of(line);
      if (include && !include->name.empty()) follow(file, *include, own);
      if (include && include->name.empty() && own) by_macro_ = name;
    }
  }
  [[nodiscard]] const std::string& all() const { return all_; }
  [[nodiscard]] std::vector<StatementSource>& files() { return files_; }
  /// A file of the user's that includes what a macro names; empty where none does.
  [[nodiscard]] const std::string& by_macro() const { return by_macro_; }

 private:
  void follow(const fs::path& from, const Include& include, bool own) {
    const auto found = [&](const fs::path& folder, bool is_own) {
      const fs::path file = folder / include.name;
      const auto text = text_of(file);
      if (text) add(file, include.name, *text, is_own);
      return text.has_value();
    };
    if (include.quoted && found(from.parent_path(), own)) return;
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      if (found(folders_[i], i < own_folders_)) return;
    }
  }

  std::vector<fs::path> folders_;
  std::size_t own_folders_;
  std::set<fs::path> seen_;
  std::string all_;
  std::vector<StatementSource> files_;
  std::string by_macro_;
};

/// Each once; of two files that are called the same, which lie in two folders, the later one has a number.
void append_files(std::vector<StatementSource>& to, const std::vector<StatementSource>& files) {
  for (StatementSource each : files) {
    const std::string name = each.name;
    for (int nth = 2;; ++nth) {
      const auto same = std::ranges::find(to, each.name, &StatementSource::name);
      if (same == to.end()) {
        to.push_back(std::move(each));
        break;
      }
      if (same->digest == each.digest) break;
      each.name = fmt::format("{} ({})", name, nth);
    }
  }
}

}  // namespace

std::vector<fs::path> include_folders_of(const OwnSource& source, const std::vector<fs::path>& toolkit) {
  std::vector<fs::path> folders{source.file.parent_path()};
  folders.insert(folders.end(), source.include_folders.begin(), source.include_folders.end());
  folders.insert(folders.end(), toolkit.begin(), toolkit.end());
  return folders;
}

Result<OwnText, Message> read_own_source(const OwnSource& source, const std::vector<fs::path>& toolkit) {
  if (source.file.empty()) return Failure<Message>{say::compile::came_with_results{.source = source.name}};
  auto text = text_of(source.file);
  if (!text) return Failure<Message>{say::compile::own_unreadable{.file = source.file.string()}};
  OwnText own{.text = *text, .digest = {}, .files = {}};
  if (source.kind != OwnSource::Kind::cuda) {
    own.digest = uuid_of(fmt::format("{}\n{}", source.statement, *text));
    own.files.push_back({.name = source.name, .digest = uuid_of(*text), .content = *text});
    return own;
  }
  Closure closure(include_folders_of(source, toolkit), toolkit.size());
  closure.add(source.file, source.name, *text);
  if (!closure.by_macro().empty()) return Failure<Message>{say::compile::own_by_macro{.file = closure.by_macro()}};
  own.digest = uuid_of(fmt::format("{}\n{}", source.statement, closure.all()));
  own.files = std::move(closure.files());
  return own;
}

Result<OwnText, Message> OwnSources::read(const std::shared_ptr<const OwnSource>& source,
                                          const std::vector<fs::path>& toolkit) const {
  auto read = read_own_source(*source, toolkit);
  if (!read) return read;
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = known_.try_emplace(source, Known{.digest = read->digest, .files = read->files});
  if (known->second.digest == read->digest) return read;
  return Failure<Message>{say::compile::own_changed{.file = source->file.string()}};
}

std::shared_ptr<const KernelStatement> OwnSources::statement_of(std::span<const KernelLaunch> launches, bool keep,
                                                                const std::vector<fs::path>& toolkit) const {
  std::pair<Sources, bool> key{{}, keep};
  for (const KernelLaunch& launch : launches) {
    const auto& own = launch.source.own;
    if (own && std::ranges::find(key.first, own) == key.first.end()) key.first.push_back(own);
  }
  if (key.first.empty()) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto made = statements_.find(key); made != statements_.end()) return made->second;
  }
  for (const auto& source : key.first) {
    if (!read(source, toolkit)) return nullptr;
  }
  const std::lock_guard lock(mutex_);
  KernelStatement statement{.text = key.first.front()->statement, .host_code = false, .sources = {}};
  for (const auto& source : key.first) {
    statement.host_code = statement.host_code || source->kind == OwnSource::Kind::library;
    append_files(statement.sources, known_.at(source).files);
  }
  std::size_t kept = 0;
  for (StatementSource& each : statement.sources) {
    const std::size_t bytes = each.content ? each.content->size() : 0;
    if (!keep || bytes > most_kept_source_bytes - kept) each.content.reset();
    if (each.content) kept += bytes;
  }
  std::ranges::sort(statement.sources, {}, &StatementSource::name);
  auto made = std::make_shared<const KernelStatement>(std::move(statement));
  return statements_.emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace attnscope::gpu
