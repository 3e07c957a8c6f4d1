// SPDX-License-Identifier: Apache-2.0
#include "kernels/user/new_kernel.h"

#include <algorithm>
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

/// Beginnings of the paths of a kind's files.
std::vector<std::string_view> parts_of(NewKernelKind kind) {
  switch (kind) {
    case NewKernelKind::nvcc:
      return {"host/", "nvcc/"};
    case NewKernelKind::library:
      return {"host/", "library/", "attnscope_kernel.h"};
    case NewKernelKind::torch_extension:
      return {"host/", "library/library.cpp", "library/@NAME@.json", "torch-extension/", "attnscope_kernel.h"};
    case NewKernelKind::cuda:
      break;
  }
  return {"cuda/"};
}

}  // namespace

std::vector<NewKernelFile> new_kernel_files(NewKernelKind kind) {
  const std::vector<std::string_view> parts = parts_of(kind);
  std::vector<NewKernelFile> files;
  for (const NewKernelFile& each : embedded_kernel_files()) {
    if (std::ranges::none_of(parts, [&](std::string_view part) { return each.path.starts_with(part); })) continue;
    files.push_back({each.path.substr(each.path.rfind('/') + 1), each.text});  // npos + 1 is 0
  }
  return files;
}

Result<std::filesystem::path, Message> write_new_kernel(const std::string& name, const std::filesystem::path& parent,
                                                        NewKernelKind kind) {
  const std::filesystem::path folder = parent / name;
  const std::vector<NewKernelFile> files = new_kernel_files(kind);
  for (const NewKernelFile& each : files) {
    if (!each.path.ends_with(".json")) continue;
    const auto manifest = parse_manifest(with_name(std::string(each.text), name), folder);
    if (!manifest) return Failure{make_message("invalid kernel name '{}': {}", name, manifest.error())};
  }
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (!std::filesystem::create_directory(folder, error) && !error)
    return Failure{make_message("{} already exists (use another name)", folder.string())};
  if (error) return Failure{make_message("cannot write {}: {}", folder.string(), error.message())};
  for (const NewKernelFile& each : files) {
    const std::filesystem::path file = folder / with_name(std::string(each.path), name);
    std::ofstream out(file, std::ios::binary);
    out << with_name(std::string(each.text), name) << std::flush;
    if (!out) return Failure{make_message("cannot write {}", file.string())};
  }
  return folder / (name + ".json");
}

}  // namespace attnscope::user
