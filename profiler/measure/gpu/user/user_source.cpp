// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/user_source.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "kernels/files/regular_file.h"
#include "profiler/measure/gpu/user/source_text.h"
#include "profiler/metrics/manifest.h"
#include "profiler/plan/text.h"

namespace attnscope::gpu {
namespace fs = std::filesystem;
namespace {

/// Limit for all files of a source together; ends recursive includes.
constexpr std::uintmax_t max_source_bytes = std::uintmax_t{64} << 20U;
constexpr std::size_t max_source_files = 4096;
constexpr std::size_t max_expansions = 4096;  // a macro may have several definitions at each depth
constexpr int max_include_depth = 200;        // NVRTC's limit
constexpr std::uintmax_t max_image_bytes = std::uintmax_t{1} << 30U;
constexpr std::string_view blanks = " \t\f\v\r";

struct Include {
  std::string name;  ///< Empty if the name is a macro.
  bool quoted = false;
  std::string macro = {};  ///< Text that expands to the name.
};

/// Parses `<name>` or `"name"` after blanks.
Include parse_include(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const bool quoted = text.starts_with('"');
  const std::size_t end = quoted || text.starts_with('<') ? text.find(quoted ? '"' : '>', 1) : std::string_view::npos;
  if (end == std::string_view::npos) return {.name = {}, .macro = std::string(text)};
  return {std::string(text.substr(1, end - 1)), quoted};
}

/// Files that a line without comments includes or tests with __has_include.
std::vector<Include> find_includes(std::string_view line) {
  const auto take = [&](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  if (!take("#") && !take("%:")) return {};
  if (take("include_next") || take("include")) return {parse_include(line)};
  std::vector<Include> all;
  constexpr std::string_view ask = "__has_include";
  for (std::size_t at = line.find(ask); at != std::string_view::npos; at = line.find(ask)) {
    line.remove_prefix(at + ask.size());
    if (take("(")) all.push_back(parse_include(line));
  }
  return all;
}

std::string trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return std::string(text.substr(0, text.find_last_not_of(blanks) + 1));
}

struct Macro {
  std::string name;
  std::vector<std::string> parameters;
  std::string body;
};

std::string read_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return std::string(word);
}

/// Splits "(a, b) rest" and removes it from the text up to the parenthesis. No parentheses: no arguments.
std::vector<std::string> read_arguments(std::string_view& text) {
  std::vector<std::string> all;
  if (!text.starts_with('(')) return all;
  std::istringstream list{std::string(text.substr(1, text.find(')') - 1))};
  for (std::string each; std::getline(list, each, ',');) all.push_back(trimmed(each));
  text.remove_prefix(std::min(text.find(')'), text.size() - 1) + 1);
  return all;
}

/// A line "#define NAME body"; its name is empty for other lines.
Macro parse_define(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(blanks);
  if (hash == std::string_view::npos || line[hash] != '#') return {};
  line.remove_prefix(hash + 1);
  if (read_word(line) != "define") return {};
  Macro macro{.name = read_word(line), .parameters = {}, .body = {}};
  macro.parameters = read_arguments(line);
  macro.body = trimmed(line);
  return macro;
}

/// File names must be valid UTF-8.
std::string replace_invalid_utf8(std::string name) {
  for (std::size_t at = first_invalid_utf8(name); at != std::string::npos; at = first_invalid_utf8(name))
    name[at] = '?';
  return name;
}

/// Transitive closure of a source's includes; each file once, with its text.
class IncludeClosure {
 public:
  /// The last `toolkit_folders` folders belong to the CUDA toolkit. `stand_ins`: for headers that no folder has.
  IncludeClosure(std::vector<fs::path> folders, std::size_t toolkit_folders, std::span<const EmbeddedSource> stand_ins)
      : folders_(std::move(folders)), user_folder_count_(folders_.size() - toolkit_folders), stand_ins_(stand_ins) {}

  void add(const fs::path& file, const std::string& name, const std::string& text, bool own = true) {
    std::error_code error;
    if (!error_.empty() || !seen_.insert(fs::weakly_canonical(file, error)).second) return;
    if (seen_.size() > max_source_files || all_.size() + text.size() > max_source_bytes || depth_ == max_include_depth)
      return set_too_much(file);
    ++depth_;
    all_ += fmt::format("{} {}\n{}\n", file.filename().string(), text.size(), text);
    if (own) files_.push_back({.name = replace_invalid_utf8(name), .digest = uuid_of(text), .content = text});
    std::istringstream lines(strip_comments(text));
    for (std::string line; std::getline(lines, line);) {
      for (const Include& include : find_includes(line)) {
        if (!include.name.empty()) follow(file, include, own);
        if (include.name.empty() && own) macro_includes_.push_back({file, include.macro});
      }
      define(parse_define(line));
    }
    --depth_;
  }
  void define(Macro macro) {
    if (!macro.name.empty() && !macro.body.empty()) macros_.emplace(macro.name, std::move(macro));
  }

  /// Adds the files that macros can name, by any of their definitions in these files: conditions are not evaluated.
  void follow_macros() {
    for (std::size_t before = 0; before != seen_.size();) {
      before = seen_.size();
      unresolved_.clear();
      for (std::size_t i = 0; i < macro_includes_.size(); ++i) {  // grows
        const MacroInclude each = macro_includes_[i];
        for (const Include& include : expand(each.text, each.file)) follow(each.file, include, true);
      }
    }
    if (error_.empty() && !unresolved_.empty())
      error_ = make_reason("compile.own_by_macro",
                           "{} includes a file whose name a macro composes (write the file name in the #include).",
                           unresolved_);
  }

  /// Adds the included file if it exists.
  void follow(const fs::path& from, const Include& include, bool own) {
    const auto found = [&](const fs::path& folder, bool is_own) {
      const fs::path file = folder / include.name;
      std::error_code unknown;
      const fs::file_status status = fs::status(file, unknown);
      if (unknown != std::errc::too_many_symbolic_link_levels && (!fs::exists(status) || fs::is_directory(status)))
        return false;
      const auto text = read_regular_file(file, max_source_bytes);
      if (text) add(file, include.name, *text, is_own && !is_toolkit_file(file));
      if (!text && error_.empty()) {
        error_ =
            make_reason("compile.own_unreadable", "{} includes {}: {}.", from.string(), file.string(), text.error());
      }
      return true;
    };
    if (include.quoted && found(from.parent_path(), own)) return;
    for (std::size_t i = 0; i < folders_.size(); ++i) {
      if (found(folders_[i], i < user_folder_count_)) return;
    }
    const auto stand_in = std::ranges::find(stand_ins_, include.name, &EmbeddedSource::path);
    if (stand_in != stand_ins_.end())
      add("/attnscope/" + include.name, include.name, std::string(stand_in->text), false);
  }

  [[nodiscard]] const std::string& all() const { return all_; }
  [[nodiscard]] std::vector<ManifestSource>& files() { return files_; }
  /// Why the closure is incomplete: an include that exists and cannot be read (NVRTC would open a FIFO or device, too)
  /// or whose macro cannot be expanded here, or a limit on size, files, depth or macros; empty if it is complete.
  [[nodiscard]] const Message& error() const { return error_; }

 private:
  struct MacroInclude {
    fs::path file;
    std::string text;
  };

  /// Includes that a macro can expand to: none if it is not defined, since then its line is inactive.
  std::vector<Include> expand(const std::string& text, const fs::path& file, int depth = 0) {
    constexpr int max_depth = 8;
    if (++expansions_ > max_expansions) set_too_much(file);
    if (!error_.empty()) return {};
    if (text.starts_with('<') || text.starts_with('"')) return {parse_include(text)};
    std::string_view rest = text;
    const std::string name = read_word(rest);
    const std::vector<std::string> arguments = read_arguments(rest);
    if (name.empty() || depth == max_depth) {
      unresolved_ = file.string();
      return {};
    }
    std::vector<Include> all;
    const auto [first, last] = macros_.equal_range(name);
    for (auto each = first; each != last; ++each) {
      const Macro& macro = each->second;
      std::string body = replace_words(macro.body, [&](std::string_view word) {
        const auto at = std::ranges::find(macro.parameters, word) - macro.parameters.begin();
        return at < std::ssize(arguments) ? arguments[static_cast<std::size_t>(at)] : std::string(word);
      });
      if (body.starts_with('#') && !body.starts_with("##")) body = '"' + trimmed(body.substr(1)) + '"';
      const std::vector<Include> names = expand(body, file, depth + 1);
      all.insert(all.end(), names.begin(), names.end());
    }
    return all;
  }

  void set_too_much(const fs::path& file) {
    error_ = make_reason("compile.own_too_much",
                         "{}: its includes exceed 64 MiB, 4096 files, a depth of 200 or 4096 macro expansions.",
                         file.string());
  }

  /// Returns true for files below a toolkit folder, even if the manifest lists that folder (for example cccl).
  [[nodiscard]] bool is_toolkit_file(const fs::path& file) const {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(file, error);
    return std::any_of(folders_.begin() + static_cast<std::ptrdiff_t>(user_folder_count_), folders_.end(),
                       [&](const fs::path& folder) {
                         const fs::path toolkit = fs::weakly_canonical(folder, error);
                         return std::ranges::mismatch(toolkit, whole).in1 == toolkit.end();
                       });
  }

  std::vector<fs::path> folders_;
  std::size_t user_folder_count_;
  std::span<const EmbeddedSource> stand_ins_;
  std::set<fs::path> seen_;
  std::string all_;
  std::vector<ManifestSource> files_;
  std::multimap<std::string, Macro> macros_;
  std::vector<MacroInclude> macro_includes_;
  std::string unresolved_;  ///< user file with an include whose macro cannot be expanded here
  Message error_;
  int depth_ = 0;
  std::size_t expansions_ = 0;
};

/// Appends each file once. A second file with the same name but other contents gets a number.
void append_files(std::vector<ManifestSource>& to, const std::vector<ManifestSource>& files) {
  for (ManifestSource each : files) {
    const std::string name = each.name;
    for (int nth = 2;; ++nth) {
      const auto same = std::ranges::find(to, each.name, &ManifestSource::name);
      if (same == to.end()) {
        to.push_back(std::move(each));
        break;
      }
      if (same->digest == each.digest) break;
      each.name = fmt::format("{} ({})", name, nth);
    }
  }
}

bool contains_any(std::string_view line, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

bool is_error(std::string_view line) {
  return contains_any(line, {"): error", "): catastrophic error", ": error:", ": fatal error:"});
}

bool begins_message(std::string_view line) {
  return is_error(line) || contains_any(line, {"): warning", ": warning:", "): remark", ": note:", "ptxas info"});
}

/// Text between two words of a line; empty if either is missing.
std::string_view between(std::string_view line, std::string_view before, std::string_view after) {
  const std::size_t begin = line.find(before);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin + before.size());
  return line.substr(0, std::min(line.find(after), line.size()));
}

bool is_host_header(std::string_view name) {
  // C++ headers have no suffix.
  return name.find_first_of("./") == std::string_view::npos || name.starts_with("sys/");
}

/// Returns how to fix the error in this line; empty if unknown.
std::string_view advice(std::string_view line, bool nvcc) {
  constexpr std::string_view host_code = R"(host code: set "compiler": "nvcc", or move it to another file)";
  std::string_view header = between(line, "cannot open source file \"", "\"");
  if (header.empty()) header = between(line, "fatal error: ", ": No such file");
  if (!header.empty()) {
    for (const char* torch : {"torch/", "ATen/", "c10/", "pybind11/", "Python.h"}) {
      if (header.starts_with(torch))
        return "PyTorch: move the kernel to a file without its headers, or build a library (.so)";
    }
    if (!nvcc && is_host_header(header))
      return R"(a header of the host: set "compiler": "nvcc", or move host code to another file)";
    return R"(add its folder to "include": [...])";
  }
  // NVRTC's file of name expressions and nvcc's wrapper, which contain only the entry.
  if (contains_any(line, {"__nv_name_map", "/instance.cu"}))
    return R"(check the template arguments of "entry" and their values in "defines")";
  if (!nvcc && contains_any(line, {"device-side kernel launch", "identifier \"cuda"})) return host_code;
  return {};
}

}  // namespace

std::vector<fs::path> include_search_path(const UserSource& source, const std::vector<fs::path>& toolkit) {
  std::vector<fs::path> folders{source.file.parent_path()};
  folders.insert(folders.end(), source.include_folders.begin(), source.include_folders.end());
  folders.insert(folders.end(), toolkit.begin(), toolkit.end());
  return folders;
}

Result<UserSourceText, Message> read_user_source(const UserSource& source, const std::vector<fs::path>& toolkit) {
  if (source.file.empty())
    return Failure{
        make_reason("compile.came_with_results",
                    "Source {} of this kernel is not in the results file (open the kernel's manifest with --kernel).",
                    source.name)};
  const bool compiled = source.kind == UserSource::Kind::cuda;
  const auto text = read_regular_file(source.file, compiled ? max_source_bytes : max_image_bytes);
  if (!text) return Failure{make_reason("compile.own_unreadable", "{}: {}.", source.file.string(), text.error())};
  UserSourceText own{.text = *text, .digest = {}, .files = {}};
  if (!compiled) {
    own.digest = uuid_of(fmt::format("{}\n{}", source.manifest, *text));
    own.files.push_back({.name = source.name, .digest = uuid_of(*text), .content = *text});
    return own;
  }
  const bool nvrtc = source.compiler == UserSource::Compiler::nvrtc;
  IncludeClosure include_closure(include_search_path(source, toolkit), toolkit.size(),
                                 nvrtc ? host_headers() : std::span<const EmbeddedSource>());
  include_closure.add(source.file, source.name, *text);
  include_closure.follow(source.file, {std::string(implicit_header)}, false);
  for (const std::string& option : source.options) {
    if (option.starts_with("-D") && option.find('=') != std::string::npos)
      include_closure.define({option.substr(2, option.find('=') - 2), {}, option.substr(option.find('=') + 1)});
  }
  include_closure.follow_macros();
  if (!include_closure.error().empty()) return Failure{include_closure.error()};
  own.digest = uuid_of(fmt::format("{}\n{}", source.manifest, include_closure.all()));
  own.files = std::move(include_closure.files());
  return own;
}

Result<UserSourceText, Message> UserSources::read(const std::shared_ptr<const UserSource>& source,
                                                  const std::vector<fs::path>& toolkit) const {
  auto read = read_user_source(*source, toolkit);
  if (!read) return read;
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = known_.try_emplace(source, FirstRead{.digest = read->digest, .files = read->files});
  if (known->second.digest == read->digest) return read;
  return Failure{
      make_reason("compile.own_changed",
                  "{} or one of its includes changed since it was first read (restart to measure the new version).",
                  source->file.string())};
}

std::shared_ptr<const StoredManifest> UserSources::statement_of(
    std::span<const std::shared_ptr<const UserSource>> sources, bool keep, const std::vector<fs::path>& toolkit) const {
  const std::pair<Sources, bool> key{{sources.begin(), sources.end()}, keep};
  if (key.first.empty() || key.first.front()->file.empty()) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto made = statements_.find(key); made != statements_.end()) return made->second;
  }
  for (const auto& source : key.first) (void)read(source, toolkit);
  const std::lock_guard lock(mutex_);
  StoredManifest manifest{.text = key.first.front()->manifest, .host_code = false, .sources = {}};
  for (const auto& source : key.first) {
    manifest.host_code = manifest.host_code || source->has_host_code();
    const auto known = known_.find(source);
    append_files(manifest.sources, known == known_.end()
                                       ? std::vector{ManifestSource{.name = source->name, .digest = {}}}
                                       : known->second.files);
  }
  std::size_t kept = 0;
  for (ManifestSource& each : manifest.sources) {
    const std::size_t bytes = each.content ? each.content->size() : 0;
    if (!keep || bytes > max_stored_source_bytes - kept) each.content.reset();
    if (each.content) kept += bytes;
  }
  std::ranges::sort(manifest.sources, {}, &ManifestSource::name);
  auto made = std::make_shared<const StoredManifest>(std::move(manifest));
  return statements_.emplace(key, std::move(made)).first->second;
}

std::string errors_first(std::string_view log, UserSource::Compiler compiler) {
  std::string errors;
  std::string others;
  bool in_error = false;
  std::istringstream lines{std::string(log)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      in_error = false;
      continue;
    }
    if (begins_message(line)) in_error = is_error(line);
    if (is_error(line)) {
      const std::string_view what = advice(line, compiler == UserSource::Compiler::nvcc);
      if (!what.empty()) line += fmt::format(" ({})", what);
    }
    (in_error ? errors : others).append(line).push_back('\n');
  }
  return errors + others;
}

}  // namespace attnscope::gpu
