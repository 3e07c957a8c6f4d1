// SPDX-License-Identifier: Apache-2.0
// Python functions as kernels: runs the attnscope Python package, app/python.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct PythonCommand {
  std::vector<std::string> words;        ///< interpreter and arguments
  std::vector<std::string> environment;  ///< variables as NAME=VALUE
};

/// Returns `python3 -m attnscope.worker SUBCOMMAND`, with the package that belongs to this program if it is found
/// relative to it. The environment variable ATTNSCOPE_PYTHON replaces python3.
[[nodiscard]] PythonCommand python_worker(const std::string& subcommand);

/// Makes user::load_known_kernel() accept Python functions: a Python process returns their manifests.
void enable_python_kernels();

}  // namespace attnscope
