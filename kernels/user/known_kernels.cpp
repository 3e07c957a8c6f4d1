// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/known_kernels.h"

#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/registry.h"
#include "kernels/user/user_kernel.h"
#include "messages/own_kernel.h"

namespace attnscope::user {
namespace {

/// Files, one a line.
constexpr const char* variable = "ATTNSCOPE_KERNELS";

std::string inherited() {
  const char* files = std::getenv(variable);
  return files != nullptr ? files : "";
}

Message add(const std::filesystem::path& file) {
  // A process that goes on in a fresh one hands over its words and its environment: both name the same files.
  static std::set<std::filesystem::path> loaded;
  if (!loaded.insert(file).second) return {};
  auto kernel = load_kernel(file);
  if (!kernel) return kernel.error();
  try {
    add_known_algorithm(std::move(kernel).value());
  } catch (const std::invalid_argument& error) {
    return say::own_kernel::in_file{.file = file.string(), .what = Message::verbatim(error.what())};
  }
  return {};
}

}  // namespace

Message load_known_kernel(const std::filesystem::path& file) {
  const std::filesystem::path whole = std::filesystem::absolute(file).lexically_normal();
  Message error = add(whole);
  if (error.empty()) ::setenv(variable, (inherited() + whole.string() + '\n').c_str(), 1);
  return error;
}

Message load_inherited_kernels() {
  std::istringstream files(inherited());
  for (std::string file; std::getline(files, file);) {
    if (file.empty()) continue;
    if (Message error = add(file); !error.empty()) return error;
  }
  return {};
}

}  // namespace attnscope::user
