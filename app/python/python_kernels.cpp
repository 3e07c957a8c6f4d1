// SPDX-License-Identifier: Apache-2.0
#include "app/python/python_kernels.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/python/child_program.h"
#include "kernels/user/known_kernels.h"
#include "profiler/files/file_system.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// Importing the function's module may compile extensions.
constexpr std::chrono::minutes describe_timeout{10};

/// Folder that contains the package: of the build tree, of a wheel, or of an installation. Empty if there is none.
fs::path package_folder() {
  std::error_code ignored;
  const fs::path program_folder = fs::read_symlink(executable_path, ignored).parent_path();
  for (const char* relative : {"../python", "../..", ATTNSCOPE_PYTHON_FOLDER}) {
    fs::path folder = (program_folder / relative).lexically_normal();
    if (fs::exists(folder / "attnscope" / "worker.py", ignored)) return folder;
  }
  return {};
}

Result<std::string, Message> describe_with_python(const user::PythonFunction& function) {
  PythonCommand command = python_worker("describe");
  command.words.insert(command.words.end(), {function.file.string(), function.name});
  CommandOutput output = run_to_end(command.words, describe_timeout, {}, command.environment);
  if (!output.started)
    return Failure{make_message("{} (set ATTNSCOPE_PYTHON to the Python program that has PyTorch)", output.error)};
  if (output.error.find("No module named 'attnscope") != std::string::npos)
    return Failure{
        make_message("{} does not find the Python package attnscope (install it, or set ATTNSCOPE_PYTHON to "
                     "a Python program that has it)",
                     command.words.front())};
  constexpr std::string_view prefix = "error: ";
  if (output.error.starts_with(prefix)) output.error.erase(0, prefix.size());
  if (!output.error.empty()) return Failure{Message::verbatim(output.error)};
  return std::move(output.text);
}

}  // namespace

PythonCommand python_worker(const std::string& subcommand) {
  const char* const interpreter = std::getenv("ATTNSCOPE_PYTHON");
  const bool is_set = interpreter != nullptr && *interpreter != '\0';
  PythonCommand command{.words = {is_set ? interpreter : "python3", "-m", "attnscope.worker", subcommand},
                        .environment = {}};
  const fs::path folder = package_folder();
  if (folder.empty()) return command;
  const char* const path = std::getenv("PYTHONPATH");
  const std::string rest = path != nullptr && *path != '\0' ? fmt::format(":{}", path) : std::string();
  command.environment.push_back(fmt::format("PYTHONPATH={}{}", folder.string(), rest));
  return command;
}

void enable_python_kernels() {
  user::set_python_describer(describe_with_python);
}

}  // namespace attnscope
