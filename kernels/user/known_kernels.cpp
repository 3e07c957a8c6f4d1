// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/known_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/files/regular_file.h"
#include "kernels/registry.h"

namespace attnscope::user {
namespace {

/// Kernels as --kernel accepts them, one per line.
constexpr const char* variable = "ATTNSCOPE_KERNELS";

std::string inherited_files() {
  const char* files = std::getenv(variable);
  return files != nullptr ? files : "";
}

std::vector<KernelFiles>& loaded() {
  static std::vector<KernelFiles> files;
  return files;
}

Message in_file(const std::filesystem::path& file, std::string what) {
  if (what.empty()) return {};
  return make_message("{}: {}", file.string(), Message::verbatim(std::move(what)));
}

/// Returns the error of Registry::add(); empty on success.
std::string add(std::unique_ptr<const UserKernel> kernel, std::string_view replaced_name = {}) {
  std::vector<std::unique_ptr<const Algorithm>> one;
  one.push_back(std::move(kernel));
  return add_known_algorithms(std::move(one), replaced_name).front();
}

bool is_python_file(const std::filesystem::path& file) {
  return file.extension() == ".py" || file.extension() == ".pkl";
}

PythonDescriber& python_describer() {
  static PythonDescriber describer;
  return describer;
}

/// Content of the file that defines a kernel, and its manifest.
struct KernelText {
  std::filesystem::path kernel;
  std::string content;
  std::string manifest;  ///< only of a Python function

  [[nodiscard]] Result<std::unique_ptr<const UserKernel>, Message> make(const std::string& suffix = {}) const {
    return manifest.empty() ? load_kernel(kernel, suffix) : make_kernel(manifest, kernel, suffix);
  }
};

/// A pickled function contains the objects that it refers to.
constexpr std::uintmax_t max_python_bytes = std::uintmax_t{256} << 20U;

Result<KernelText, Message> read_text(const std::filesystem::path& kernel) {
  KernelText text{.kernel = kernel, .content = {}, .manifest = {}};
  const auto function = parse_python_function(kernel);
  if (!function && is_python_file(kernel)) {
    return Failure{
        make_message("{}: the function is missing (give {}:NAME)", kernel.string(), kernel.filename().string())};
  }
  if (!function) return text;
  auto content = read_regular_file(function->file, max_python_bytes);
  if (!content) return Failure{in_file(function->file, attnscope::text(content.error()))};
  if (!python_describer()) return Failure{in_file(kernel, "Python functions are not supported here")};
  auto manifest = python_describer()(*function);
  if (!manifest) return Failure{in_file(kernel, attnscope::text(manifest.error()))};
  if (manifest->empty()) return Failure{in_file(kernel, "the manifest is empty")};
  text.content = std::move(content).value();
  text.manifest = std::move(manifest).value();
  return text;
}

KernelFiles files_of(const KernelText& text, const UserKernel& kernel) {
  return {.manifest = text.kernel,
          .name = kernel.name(),
          .sources = kernel.source_files(),
          .content = text.manifest.empty() ? kernel.text() : text.content};
}

std::filesystem::path absolute_path(const std::filesystem::path& kernel) {
  return std::filesystem::absolute(kernel).lexically_normal();
}

Message take(const std::filesystem::path& file) {
  const auto known = std::ranges::find(loaded(), file, &KernelFiles::manifest);
  if (file.string().find('\n') != std::string::npos) {
    return make_message("{}: the path has a line break (rename the file)", file.string());
  }
  const auto text = read_text(file);
  if (!text) return text.error();
  auto kernel = text->make();
  if (!kernel) return kernel.error();
  KernelFiles files = files_of(*text, **kernel);
  const bool again = known != loaded().end();
  Message error = in_file(file, add(std::move(kernel).value(), again ? known->name : std::string_view()));
  if (!error.empty()) return error;
  if (again) {
    *known = std::move(files);
  } else {
    loaded().push_back(std::move(files));
  }
  return {};
}

/// Loads a kernel under its name, or under the first free one. Returns that name.
Result<std::string, Message> take_version(const std::filesystem::path& file) {
  const auto text = read_text(file);
  if (!text) return Failure{text.error()};
  auto kernel = text->make();
  for (int version = 2; kernel && known_algorithms().find((*kernel)->name()) != nullptr; ++version) {
    kernel = text->make("." + std::to_string(version));
  }
  if (!kernel) return Failure{kernel.error()};
  KernelFiles files = files_of(*text, **kernel);
  std::string name = files.name;
  if (Message error = in_file(file, add(std::move(kernel).value())); !error.empty()) return Failure{std::move(error)};
  loaded().push_back(std::move(files));
  return name;
}

/// User-defined kernels found in results files.
class ManifestCollector {
 public:
  using AlgorithmsOf = std::function<std::vector<std::string>(std::size_t)>;

  std::vector<Message> take(std::span<const std::string_view> texts, const std::filesystem::path& file,
                            const AlgorithmsOf& algorithms_of) {
    const std::lock_guard lock(mutex_);
    file_ = file;
    std::map<std::string, int> named;
    for (const std::string_view text : texts) {
      if (const ParsedManifest* const known = read(text)) ++named[known->name];
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const ParsedManifest* const known = read(texts[i]);
      const bool is_valid = known != nullptr && !known->name.empty();
      std::vector<std::string> names;
      if (!is_valid || named[known->name] > 1 || differs_from_known(known->name, texts[i])) names = algorithms_of(i);
      if (is_valid && names.empty()) names.push_back(known->name);
      for (const std::string& name : names) assign_manifest(name, texts[i], is_valid);
      if (known == nullptr) {
        report(
            make_message("{}: more than {} manifests or {} MiB in results files; the laws of further kernels are "
                         "unknown",
                         file_.string(), max_collected_manifests, max_collected_bytes >> 20U));
      } else if (!is_valid && !names.empty()) {
        constexpr std::size_t most_named = 3;
        names.resize(std::min(names.size(), most_named));
        refuse(fmt::format("{}", fmt::join(names, ", ")), known->wrong);
      }
    }
    add_all();
    return std::exchange(lines_, {});
  }

 private:
  struct ParsedManifest {
    std::string name;  ///< empty: not a valid manifest
    Message wrong;
  };
  struct KnownManifest {
    std::string text;
    std::filesystem::path file;
    bool has_law = true;
  };

  /// Parses a manifest once; returns nullptr beyond the limits, after which no new one is accepted.
  const ParsedManifest* read(std::string_view text) {
    if (const auto before = read_.find(text); before != read_.end()) return &before->second;
    limit_reached_ =
        limit_reached_ || read_.size() == max_collected_manifests || text.size() > max_collected_bytes - bytes_;
    if (limit_reached_) return nullptr;
    bytes_ += text.size();
    ParsedManifest& read = read_[std::string(text)];
    if (auto parsed = parse_manifest(text, std::nullopt)) {
      read.name = parsed->name;
    } else {
      read.wrong = parsed.error();
    }
    return &read;
  }

  /// Returns true if an earlier file or this process has a different manifest for the name.
  [[nodiscard]] bool differs_from_known(const std::string& name, std::string_view text) const {
    const auto met = first_manifests_.find(name);
    const auto* given = dynamic_cast<const UserKernel*>(known_algorithms().find(name));
    return (met != first_manifests_.end() && met->second.text != text) ||
           (given != nullptr && !given->facts().model_only && given->text() != text);
  }

  [[nodiscard]] static std::unique_ptr<const UserKernel> kernel_of(const std::string& name, std::string_view text) {
    KernelManifest manifest = parse_manifest(text, std::nullopt).value();
    manifest.name = name;
    return std::make_unique<UserKernel>(std::move(manifest));
  }

  /// Returns true if --kernel loaded a kernel of this name, which takes precedence; reports a differing manifest.
  bool is_loaded_kernel(const std::string& name, std::string_view text) {
    const Algorithm* const known = known_algorithms().find(name);
    if (known == nullptr || known->facts().model_only) return false;
    const auto* given = dynamic_cast<const UserKernel*>(known);
    if (given != nullptr && given->text() != text) {
      report(
          make_message("{}: points of kernel {} were measured with another manifest; their law is that of the "
                       "loaded one",
                       file_.string(), name));
    }
    return true;
  }

  /// Assigns a manifest to the points of a kernel; an invalid manifest (not `is_valid`) makes its law unknown.
  void assign_manifest(const std::string& name, std::string_view text, bool is_valid) {
    if (is_loaded_kernel(name, text)) return;
    const auto met = first_manifests_.find(name);
    if (met == first_manifests_.end()) {
      if (is_valid || !limit_reached_)
        first_manifests_[name] = {.text = std::string(text), .file = file_, .has_law = is_valid};
      if (is_valid) next_[name] = kernel_of(name, text);
      return;
    }
    KnownManifest& first = met->second;
    if (first.text == text) return;
    const auto next = next_.find(name);
    const auto* const kernel =
        next != next_.end() ? next->second.get() : dynamic_cast<const UserKernel*>(known_algorithms().find(name));
    // A registry that contains the kernel keeps it.
    if (kernel != nullptr ? std::exchange(first.has_law, false) : is_valid) {
      next_[name] = kernel != nullptr ? kernel->copy_without_law() : kernel_of(name, text)->copy_without_law();
      report(
          first.file == file_
              ? make_message("{}: two manifests of kernel {} differ; its law is unknown (load one with --kernel)",
                             file_.string(), name)
              : make_message("{}: the manifest of kernel {} differs from that in {}; its law is unknown (load one with "
                             "--kernel)",
                             file_.string(), name, first.file.string()));
    }
  }

  void refuse(const std::string& kernels, const Message& why) {
    report(make_message("{}: manifest of {} rejected, so its law is unknown: {}", file_.string(), kernels, why));
  }
  void report(Message line) {
    if (reported_.insert(attnscope::text(line)).second) lines_.push_back(std::move(line));
  }

  /// Adds all new kernels in one call, since every registry of the process stays in memory.
  void add_all() {
    std::vector<std::string> names;
    std::vector<std::unique_ptr<const Algorithm>> kernels;
    for (auto& [name, kernel] : next_) {
      names.push_back(name);
      kernels.push_back(std::move(kernel));
    }
    next_.clear();
    if (names.empty()) return;
    const std::vector<std::string> wrong = add_known_algorithms(std::move(kernels));
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      if (!wrong[i].empty()) refuse(names[i], Message::verbatim(wrong[i]));
    }
  }

  std::mutex mutex_;
  std::map<std::string, ParsedManifest, std::less<>> read_;  // key: text of the manifest
  std::size_t bytes_ = 0;
  bool limit_reached_ = false;
  std::map<std::string, KnownManifest, std::less<>> first_manifests_;  // key: kernel name
  std::set<std::string> reported_;
  std::filesystem::path file_;
  std::map<std::string, std::unique_ptr<const UserKernel>, std::less<>> next_;
  std::vector<Message> lines_;
};

/// Passes the loaded kernels to child processes.
void export_loaded_kernels() {
  std::string files;
  for (const KernelFiles& each : loaded()) files += each.manifest.string() + '\n';
  ::setenv(variable, files.c_str(), 1);
}

}  // namespace

std::optional<PythonFunction> parse_python_function(const std::filesystem::path& kernel) {
  const std::string& word = kernel.native();
  const std::size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon + 1 == word.size() || word.find('/', colon) != std::string::npos) {
    return std::nullopt;
  }
  PythonFunction function{.file = word.substr(0, colon), .name = word.substr(colon + 1)};
  if (!is_python_file(function.file)) return std::nullopt;
  return function;
}

void set_python_describer(PythonDescriber describe) {
  python_describer() = std::move(describe);
}

Result<std::unique_ptr<const UserKernel>, Message> read_kernel(const std::filesystem::path& kernel) {
  const auto text = read_text(absolute_path(kernel));
  if (!text) return Failure{text.error()};
  return text->make();
}

Message load_known_kernel(const std::filesystem::path& kernel) {
  Message error = take(absolute_path(kernel));
  export_loaded_kernels();
  return error;
}

Result<std::string, Message> load_kernel_version(const std::filesystem::path& kernel) {
  auto name = take_version(absolute_path(kernel));
  if (name) export_loaded_kernels();
  return name;
}

const std::vector<KernelFiles>& loaded_kernel_files() {
  return loaded();
}

bool has_python_kernels() {
  return std::ranges::any_of(loaded(),
                             [](const KernelFiles& each) { return std::ranges::any_of(each.sources, is_python_file); });
}

std::filesystem::path defining_file(const KernelFiles& kernel) {
  const auto function = parse_python_function(kernel.manifest);
  return function ? function->file : kernel.manifest;
}

bool is_unchanged(const KernelFiles& kernel) {
  const auto content = read_regular_file(defining_file(kernel), max_python_bytes);
  return content && *content == kernel.content;
}

Message load_inherited_kernels() {
  if (!loaded().empty()) {
    loaded().clear();
    reset_known_algorithms();
  }
  std::istringstream files(inherited_files());
  for (std::string file; std::getline(files, file);) {
    if (file.empty()) continue;
    if (auto known = take_version(file); !known) return known.error();
  }
  return {};
}

std::vector<Message> add_manifests_from_file(
    std::span<const std::string_view> texts, const std::filesystem::path& file,
    const std::function<std::vector<std::string>(std::size_t)>& algorithms_of) {
  static ManifestCollector found;
  return found.take(texts, file, algorithms_of);
}

}  // namespace attnscope::user
