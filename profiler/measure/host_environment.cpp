// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/host_environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <string>

namespace attnscope {
namespace {

// PRETTY_NAME of os-release(5) and the kernel version; only the latter if there is no such file.
std::string operating_system() {
  utsname kernel{};
  std::string kernel_name;
  if (uname(&kernel) == 0) kernel_name = fmt::format("{} {}", kernel.sysname, kernel.release);
  std::ifstream file("/etc/os-release");
  constexpr std::string_view key = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::string name = line.substr(key.size());
    std::erase(name, '"');
    return fmt::format("{}, {}", name, kernel_name);
  }
  return kernel_name;
}

}  // namespace

const char* program_version() {
  return ATTNSCOPE_VERSION;
}

Environment host_environment() {
  Environment environment;
  environment.app_version = program_version();
  environment.operating_system = operating_system();
  return environment;
}

}  // namespace attnscope
