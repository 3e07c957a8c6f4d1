// SPDX-License-Identifier: Apache-2.0
// Python functions as kernels: runs the attnscope Python package, app/python. Also runs any other program to its end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "profiler/plan/cancel_token.h"

namespace attnscope {

/// Returns `python3 -m attnscope.worker SUBCOMMAND`. The environment variable ATTNSCOPE_PYTHON replaces python3.
[[nodiscard]] std::vector<std::string> python_worker(const std::string& subcommand);

/// Makes user::load_known_kernel() accept Python functions: a Python process returns their manifests. Adds the package
/// that belongs to this program to PYTHONPATH, if it is found relative to it. Call before starting threads.
void enable_python_kernels();

struct CommandOutput {
  std::string text;   ///< complete lines of stdout
  std::string error;  ///< last line of stderr; empty if the command succeeded
  bool killed = false;
  bool started = true;
};

/// Runs a command (program from PATH, arguments). Kills it, with the processes that it started, after `limit` or on
/// cancellation.
[[nodiscard]] CommandOutput run_to_end(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                                       const CancelToken& cancel);

}  // namespace attnscope
