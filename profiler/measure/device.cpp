// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/device.h"

#include <sys/utsname.h>

#include <fstream>
#include <string>

#include <fmt/format.h>

#include "profiler/plan/sweep.h"

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

Result<CeilingSet, CeilingFailure> Device::ceilings(const CeilingOptions&, const CancelToken&, const CeilingProgress&) {
  const DeviceLimits& limits = info().limits;
  return CeilingSet{datasheet_ceilings(limits),
                    {make_message("{} was not measured; the values are from its datasheet.", limits.name)}};
}

bool fits_in_session(std::span<const PointSpec> waiting, const PointSpec& next, const DeviceLimits& limits,
                     const Registry& registry) {
  if (waiting.size() >= max_session_points) return false;
  std::int64_t bytes = required_memory_bytes(next, limits, registry);
  for (const PointSpec& spec : waiting) bytes += required_memory_bytes(spec, limits, registry);
  return bytes <= limits.dram_bytes / 4;
}

}  // namespace attnscope
