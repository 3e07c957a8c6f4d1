// SPDX-License-Identifier: Apache-2.0
#include "app/python/python_kernels.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "kernels/user/known_kernels.h"
#include "profiler/files/file_system.h"
#include "profiler/worker/link.h"

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
  std::vector<std::string> command = python_worker("describe");
  command.insert(command.end(), {function.file.string(), function.name});
  CommandOutput output = run_to_end(command, describe_timeout, {});
  if (!output.started)
    return Failure{make_message("{} (set ATTNSCOPE_PYTHON to the Python program that has PyTorch)", output.error)};
  if (output.error.find("No module named 'attnscope") != std::string::npos)
    return Failure{
        make_message("{} does not find the Python package attnscope (install it, or set ATTNSCOPE_PYTHON to "
                     "a Python program that has it)",
                     command.front())};
  constexpr std::string_view prefix = "error: ";
  if (output.error.starts_with(prefix)) output.error.erase(0, prefix.size());
  if (!output.error.empty()) return Failure{Message::verbatim(output.error)};
  return std::move(output.text);
}

}  // namespace

CommandOutput run_to_end(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                         const CancelToken& cancel) {
  auto link = worker::start_child(words);
  if (!link) {
    return {.text = {}, .error = fmt::format("cannot start {}: {}", words.front(), link.error()), .started = false};
  }
  const auto start = std::chrono::steady_clock::now();
  CommandOutput output;
  const auto kill_with = [&](std::string why) {
    (*link)->kill_peer();
    return CommandOutput{.text = {}, .error = std::move(why), .killed = true};
  };
  for (std::string line;;) {
    constexpr std::chrono::milliseconds poll_interval{100};
    const auto got = (*link)->receive(line, poll_interval);
    if (got == worker::Link::ReceiveStatus::end) break;
    if (got == worker::Link::ReceiveStatus::line) output.text += line + '\n';
    if (cancel.cancelled()) return kill_with("cancelled");
    if (std::chrono::steady_clock::now() - start >= limit)
      return kill_with(fmt::format("no answer within {} s", std::chrono::duration<double>(limit).count()));
  }
  const worker::Link::ExitStatus end = (*link)->end();
  if (end.exit_code == 0) return output;
  if (end.exit_code < 0 && end.signal == 0) return kill_with("closed its output without ending");
  output.error = worker::last_line(end.stderr_tail);
  if (output.error.empty() && end.signal != 0) output.error = fmt::format("ended by signal {}", end.signal);
  if (output.error.empty()) output.error = fmt::format("exit code {}", end.exit_code);
  return output;
}

std::vector<std::string> python_worker(const std::string& subcommand) {
  const char* const interpreter = std::getenv("ATTNSCOPE_PYTHON");
  const bool is_set = interpreter != nullptr && *interpreter != '\0';
  return {is_set ? interpreter : "python3", "-m", "attnscope.worker", subcommand};
}

void enable_python_kernels() {
  user::set_python_describer(describe_with_python);
  const fs::path folder = package_folder();
  if (folder.empty()) return;
  const char* const path = std::getenv("PYTHONPATH");
  const std::string rest = path != nullptr && *path != '\0' ? fmt::format(":{}", path) : std::string();
  ::setenv("PYTHONPATH", (folder.string() + rest).c_str(), 1);
}

}  // namespace attnscope
