// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/new_kernel.h"

#include <fstream>
#include <system_error>

#include "kernels/user/manifest.h"

namespace attnscope::user {
namespace {

std::string with_name(std::string text, const std::string& name) {
  constexpr std::string_view place = "@NAME@";
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + name.size())) {
    text.replace(at, place.size(), name);
  }
  return text;
}

}  // namespace

Result<std::filesystem::path, Message> write_new_kernel(const std::string& name, const std::filesystem::path& parent) {
  const std::filesystem::path folder = parent / name;
  for (const NewKernelFile& each : new_kernel_files()) {
    if (!each.path.ends_with(".json")) continue;
    const auto manifest = parse_manifest(with_name(std::string(each.text), name), folder);
    if (!manifest) return Failure{make_message("invalid kernel name '{}': {}", name, manifest.error())};
  }
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (!std::filesystem::create_directory(folder, error) && !error)
    return Failure{make_message("{} already exists (use another name)", folder.string())};
  if (error) return Failure{make_message("cannot write {}: {}", folder.string(), error.message())};
  for (const NewKernelFile& each : new_kernel_files()) {
    const std::filesystem::path file = folder / with_name(std::string(each.path), name);
    std::ofstream out(file, std::ios::binary);
    out << with_name(std::string(each.text), name) << std::flush;
    if (!out) return Failure{make_message("cannot write {}", file.string())};
  }
  return folder / (name + ".json");
}

}  // namespace attnscope::user
