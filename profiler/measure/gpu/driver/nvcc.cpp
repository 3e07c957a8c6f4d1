// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <array>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "kernels/files/regular_file.h"
#include "profiler/measure/gpu/driver/dynamic_library.h"
#include "profiler/measure/gpu/user/kernel_entry.h"
#include "profiler/measure/gpu/user/user_source.h"

namespace attnscope::gpu {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t max_cubin_bytes = std::uintmax_t{1} << 30U;
constexpr std::chrono::minutes max_compile_time{10};

/// Includes the source and instantiates the entry for instance_symbol().
std::string instance_text(const fs::path& file, const std::string& entry) {
  return fmt::format(
      "#include \"{0}\"\ntemplate <class F, F* entry> __global__ void attnscope_entry() {{}}\n"
      "template __global__ void attnscope_entry<decltype({1}), {1}>();\n",
      file.string(), entry);
}

/// nvcc runs its stages through a shell, with arguments in double quotes.
bool is_safe_in_shell(std::string_view argument) {
  return std::ranges::none_of(argument, [](char c) {
    return std::iscntrl(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("$`\"\\;&|<>()").find(c) != std::string_view::npos;
  });
}

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

constexpr std::size_t max_output_bytes = std::size_t{1} << 20U;
constexpr std::array<std::string_view, 6> dropped_variables{"TMPDIR", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                                                            "CPATH",  "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH"};

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& each : strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the errno of a failed start, or 0. `output`: file for both outputs of the child.
int start(std::vector<std::string> arguments, const fs::path& temporary, const fs::path& output, pid_t& child) {
  std::vector<std::string> environment{"TMPDIR=" + temporary.string()};
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (std::ranges::find(dropped_variables, name) == dropped_variables.end()) environment.emplace_back(variable);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND,
                                     S_IRUSR | S_IWUSR);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a timeout kills the whole group
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = ::posix_spawn(&child, arguments.front().c_str(), &files, &attributes,
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return failed;
}

Message no_scratch_folder() {
  return make_reason("compile.no_temporary_folder",
                     "nvcc needs a temporary folder, which cannot be created or written (set TMPDIR to a writable "
                     "folder).");
}

}  // namespace

ChildOutput run_child(const std::vector<std::string>& arguments, const fs::path& temporary,
                      std::chrono::milliseconds limit, const CancelToken& cancel) {
  const auto until = std::chrono::steady_clock::now() + limit;
  const fs::path output = temporary / "output.txt";
  ChildOutput result;
  pid_t child = -1;
  if (const int failed = start(arguments, temporary, output, child); failed != 0) {
    result.text = std::strerror(failed);
    return result;
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0) {
    result.cancelled = cancel.cancelled();
    result.timed_out = !result.cancelled && std::chrono::steady_clock::now() >= until;
    if (result.cancelled || result.timed_out) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (ended == child && WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  std::ifstream in(output, std::ios::binary);
  result.text.resize(max_output_bytes);
  in.read(result.text.data(), static_cast<std::streamsize>(max_output_bytes));
  result.text.resize(static_cast<std::size_t>(in.gcount()));
  return result;
}

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
  const ScratchFolder folder;
  if (folder.path().empty()) return Failure{no_scratch_folder()};
  const ChildOutput answer = run_child({nvcc.path_.string(), "--version"}, folder.path(), std::chrono::minutes(1));
  if (answer.exit_code != 0) {
    return Failure{make_reason("compile.nvcc_failed",
                               "{} --version failed: {} (set ATTNSCOPE_NVCC to the path of nvcc).", nvcc.path_.string(),
                               joined_lines(answer.text))};
  }
  nvcc.version_ = joined_lines(answer.text);
  return nvcc;
}

Result<Compiled, Message> Nvcc::compile(const KernelSource& source, const std::vector<std::string>& options,
                                        const CancelToken& cancel) const {
  const ScratchFolder folder;
  if (folder.path().empty()) return Failure{no_scratch_folder()};
  std::error_code error;
  const fs::path file = fs::absolute(source.user_source->file, error);
  const fs::path cubin = folder.path() / "kernel.cubin";
  const bool instance = source.entry.find('<') != std::string::npos;
  const fs::path input = instance ? folder.path() / "instance.cu" : file;
  if (instance) {
    std::ofstream out(input);
    out << instance_text(file, instantiated_entry(source)) << std::flush;
    if (!out) return Failure{no_scratch_folder()};
  }
  std::vector<std::string> arguments{path_.string(), "-cubin", "-o", cubin.string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const auto& include : include_search_path(*source.user_source, {})) arguments.push_back("-I" + include.string());
  arguments.push_back(input.string());
  for (const std::string& each : arguments) {
    if (is_safe_in_shell(each)) continue;
    return Failure{make_reason("compile.shell_characters",
                               "nvcc argument {} has a character of the shell, one of $`\"\\;&|<>() or a control "
                               "character (rename the file or remove the option).",
                               each)};
  }
  Compiled compiled;
  const ChildOutput answer = run_child(arguments, folder.path(), max_compile_time, cancel);
  compiled.log = answer.text;
  if (answer.cancelled) return Failure{make_reason("compile.cancelled", "nvcc was cancelled.")};
  if (answer.timed_out) {
    return Failure{
        make_reason("compile.nvcc_timeout", "nvcc did not finish within {} minutes.", max_compile_time.count())};
  }
  auto image = read_regular_file(cubin, max_cubin_bytes);
  if (answer.exit_code != 0 || !image) {
    return Failure{make_reason("compile.with_log", "{}\n{}",
                               make_message("nvcc ended with exit code {}", answer.exit_code),
                               errors_first(compiled.log, UserSource::Compiler::nvcc))};
  }
  compiled.cubin = std::move(image).value();
  if (instance) compiled.symbol = instance_symbol(compiled.cubin);
  if (compiled.symbol.empty()) {
    auto symbol = find_symbol(source, compiled.cubin);
    if (!symbol) return Failure{symbol.error()};
    compiled.symbol = std::move(symbol).value();
  }
  compiled.figures = parse_resource_usage(compiled.log, compiled.symbol);
  return compiled;
}

}  // namespace attnscope::gpu
