// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "kernels/files/regular_file.h"
#include "profiler/measure/gpu/driver/child_process.h"
#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/measure/gpu/user/compiler_log.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "profiler/measure/gpu/user/user_source.h"

namespace attnscope::gpu {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t max_cubin_bytes = std::uintmax_t{1} << 30U;

/// A private folder that is removed with the object; its path is empty if it could not be created.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "attnscope-nvcc-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string joined_lines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

fs::path nvcc_path() {
  if (const char* own = std::getenv("ATTNSCOPE_NVCC"); own != nullptr) return own;
  std::vector<fs::path> folders;
  for (const fs::path& libraries : toolkit_library_folders()) folders.push_back(libraries.parent_path() / "bin");
  const char* const path = std::getenv("PATH");
  std::istringstream entries(path != nullptr ? path : "");
  for (std::string each; std::getline(entries, each, ':');) folders.emplace_back(each);
  for (const fs::path& folder : folders) {
    if (folder.is_absolute() && ::access((folder / "nvcc").c_str(), X_OK) == 0) return folder / "nvcc";
  }
  return {};
}

}  // namespace

bool needs_nvcc(const KernelSource& source) {
  const auto& user = source.user_source;
  return user && user->kind == UserSource::Kind::cuda && user->compiler == UserSource::Compiler::nvcc;
}

Result<Nvcc, Message> Nvcc::find() {
  Nvcc nvcc;
  nvcc.path_ = nvcc_path();
  if (nvcc.path_.empty()) {
    return Failure{make_reason("compile.no_nvcc",
                               "nvcc was not found (install the compiler of the CUDA toolkit, or set ATTNSCOPE_NVCC to "
                               "its path).")};
  }
  std::error_code error;
  const ChildOutput answer =
      run_child({nvcc.path_.string(), "--version"}, fs::temp_directory_path(error), std::chrono::minutes(1));
  if (answer.exit_code != 0) {
    return Failure{make_reason("compile.nvcc_failed",
                               "{} --version failed: {} (set ATTNSCOPE_NVCC to the path of nvcc).", nvcc.path_.string(),
                               joined_lines(answer.text))};
  }
  nvcc.version_ = joined_lines(answer.text);
  return nvcc;
}

Result<Compiled, Message> Nvcc::compile(const KernelSource& source, const std::vector<std::string>& options,
                                        std::chrono::milliseconds limit) const {
  const ScratchFolder folder;
  std::error_code error;
  const fs::path file = fs::absolute(source.user_source->file, error);
  const fs::path cubin = folder.path() / "kernel.cubin";
  fs::path input = file;
  if (source.entry.find('<') != std::string::npos) {  // a pointer to the kernel instantiates it
    input = folder.path() / "instance.cu";
    std::ofstream(input) << fmt::format(
        "#include \"{}\"\nnamespace {{\n__attribute__((used)) auto* const attnscope_entry = &{};\n}}\n", file.string(),
        instantiated_entry(source));
  }
  std::vector<std::string> words{path_.string(), "-cubin", "-o", cubin.string()};
  words.insert(words.end(), options.begin(), options.end());
  for (const auto& include : include_search_path(*source.user_source, {})) words.push_back("-I" + include.string());
  words.push_back(input.string());
  Compiled compiled;
  const ChildOutput answer = run_child(words, folder.path(), limit);
  compiled.log = answer.text;
  if (answer.timed_out) {
    return Failure{make_reason("compile.nvcc_timeout", "nvcc did not finish within {} s.",
                               std::chrono::duration_cast<std::chrono::seconds>(limit).count())};
  }
  auto image = read_regular_file(cubin, max_cubin_bytes);
  if (answer.exit_code != 0 || !image) {
    return Failure{make_reason("compile.with_log", "{}\n{}",
                               make_message("nvcc ended with exit code {}", answer.exit_code),
                               errors_first(compiled.log, UserSource::Compiler::nvcc))};
  }
  compiled.cubin = std::move(image).value();
  auto symbol = find_symbol(source, compiled.cubin);
  if (!symbol) return Failure{symbol.error()};
  compiled.symbol = std::move(symbol).value();
  compiled.figures = parse_resource_usage(compiled.log, compiled.symbol);
  return compiled;
}

}  // namespace attnscope::gpu
