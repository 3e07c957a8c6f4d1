// SPDX-License-Identifier: Apache-2.0
// libattnscope.so: `attnscope worker` in a Python process, which provides the functions to measure.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/worker_service.h"
#include "kernels/user/known_kernels.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/user/python_call.h"
#include "profiler/measure/gpu/user/python_kernel.h"

namespace attnscope {
namespace {

user::PythonDescriber describer_of(const attnscope_python& functions) {
  return [&functions](const user::PythonFunction& function) -> Result<std::string, Message> {
    const char* manifest = nullptr;
    if (functions.describe(function.file.c_str(), function.name.c_str(), &manifest) == ATTNSCOPE_OK)
      return std::string(manifest);
    return Failure{Message::verbatim(functions.last_error())};
  };
}

WorkerOptions parse_options(int argc, const char* const* argv) {
  CLI::App command("", "attnscope worker");
  const auto options = add_worker_options(command);
  try {
    command.parse(std::vector<std::string>(std::reverse_iterator(argv + argc), std::reverse_iterator(argv)));
  } catch (const CLI::ParseError& error) {
    throw CommandError(ExitCode::usage, Message::verbatim(error.what()));
  }
  return *options;
}

/// Python handles signals, so that only the end of the input ends the worker.
ExitCode serve(const WorkerOptions& options, const attnscope_python& functions, int in, int out) {
  user::set_python_describer(describer_of(functions));
  gpu::set_python_functions(&functions);
  if (Message wrong = user::load_inherited_kernels(); !wrong.empty()) throw CommandError(ExitCode::usage, wrong);
  CancelToken cancel;
  return serve_worker(options, in, out, cancel);
}

}  // namespace
}  // namespace attnscope

int attnscope_worker(int argc, const char* const* argv, const attnscope_python* functions, int in, int out) {
  using namespace attnscope;
  const auto fail = [out](const CommandError& error) {
    std::fputs(fmt::format("error: {}\n", one_line(error.what())).c_str(), stderr);
    send_worker_failure(error, out);
    return static_cast<int>(error.code());
  };
  try {
    if (functions->version != ATTNSCOPE_PYTHON_VERSION) {
      throw CommandError(ExitCode::error,
                         "the Python package has interface {}, but libattnscope.so {} (reinstall both)",
                         functions->version, ATTNSCOPE_PYTHON_VERSION);
    }
    return static_cast<int>(serve(parse_options(argc, argv), *functions, in, out));
  } catch (const CommandError& error) {
    return fail(error);
  } catch (const std::exception& error) {
    return fail({ExitCode::error, Message::verbatim(explain(error))});
  }
}

const char* attnscope_version() {
  return attnscope::program_version();
}
