// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/known_kernels.h"

#include <algorithm>
#include <cstdlib>
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

std::vector<KernelFiles>& loaded() {
  static std::vector<KernelFiles> files;
  return files;
}

Message take(const std::filesystem::path& file) {
  const auto known = std::ranges::find(loaded(), file, &KernelFiles::statement);
  auto kernel = load_kernel(file);
  if (!kernel) return kernel.error();
  KernelFiles files{.statement = file, .sources = (*kernel)->source_files()};
  try {
    if (known != loaded().end() && known_algorithms().find((*kernel)->name()) != nullptr) {
      replace_known_algorithm(std::move(kernel).value());
    } else {
      add_known_algorithm(std::move(kernel).value());
    }
  } catch (const std::invalid_argument& error) {
    return say::own_kernel::in_file{.file = file.string(), .what = Message::verbatim(error.what())};
  }
  if (known != loaded().end()) {
    *known = std::move(files);
  } else {
    loaded().push_back(std::move(files));
  }
  return {};
}

}  // namespace

Message load_known_kernel(const std::filesystem::path& file) {
  const std::filesystem::path whole = std::filesystem::absolute(file).lexically_normal();
  Message error = take(whole);
  std::string files;
  for (const KernelFiles& each : loaded()) files += each.statement.string() + '\n';
  ::setenv(variable, files.c_str(), 1);
  return error;
}

const std::vector<KernelFiles>& known_kernel_files() {
  return loaded();
}

Message load_inherited_kernels() {
  std::istringstream files(inherited());
  for (std::string file; std::getline(files, file);) {
    if (file.empty()) continue;
    if (Message error = take(file); !error.empty()) return error;
  }
  return {};
}

}  // namespace attnscope::user
