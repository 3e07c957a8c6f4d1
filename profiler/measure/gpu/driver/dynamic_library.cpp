// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/dynamic_library.h"

#include <link.h>

#include <cstdlib>

#include "profiler/plan/text.h"

namespace attnscope::gpu {
namespace fs = std::filesystem;
namespace {

fs::path path_of(void* handle, const std::string& opened_as) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != nullptr && *map->l_name != '\0') {
    std::error_code ignored;
    const fs::path real = fs::canonical(map->l_name, ignored);
    return ignored ? fs::path(map->l_name) : real;
  }
  return opened_as;
}

std::string loader_error() {
  const char* words = dlerror();
  return words != nullptr ? words : "unknown loader error";
}

}  // namespace

Result<DynamicLibrary, LibraryError> DynamicLibrary::open(const LibrarySearch& search) {
  const auto load = [](const std::string& name, int flags) -> std::optional<DynamicLibrary> {
    void* handle = dlopen(name.c_str(), flags);
    if (handle == nullptr) return std::nullopt;
    return DynamicLibrary(handle, path_of(handle, name));
  };

  if (const char* replacement = search.override_variable != nullptr ? std::getenv(search.override_variable) : nullptr;
      replacement != nullptr) {
    if (auto library = load(replacement, RTLD_NOW | RTLD_LOCAL)) return *library;
    std::error_code ignored;
    return Failure{LibraryError{make_message("{} could not be loaded from {}={}: {}", search.title,
                                             search.override_variable, replacement, loader_error()),
                                !fs::exists(replacement, ignored)}};
  }
  for (const std::string& name : search.names) {
    if (auto library = find_loaded(name)) return *library;
  }
  std::string broken;
  for (const std::string& name : search.names) {
    for (const fs::path& folder : search.folders) {
      const fs::path file = folder / name;
      std::error_code ignored;
      if (!fs::exists(file, ignored)) continue;
      if (auto library = load(file.string(), RTLD_NOW | RTLD_LOCAL)) return *library;
      broken = loader_error();
    }
    if (auto library = load(name, RTLD_NOW | RTLD_LOCAL)) return *library;
    // The loader's message distinguishes an unusable file from a missing one.
    if (std::string why = loader_error(); !why.starts_with(name + ": cannot open shared object file: No such file")) {
      broken = std::move(why);
    }
  }
  if (!broken.empty()) {
    return Failure{LibraryError{make_message("{} was found but could not be loaded: {}", search.title, broken), false}};
  }
  return Failure{
      LibraryError{make_message("{} is not installed: {} not found", search.title, join_or(search.names)), true}};
}

std::optional<DynamicLibrary> DynamicLibrary::find_loaded(const std::string& soname) {
  void* const handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  return DynamicLibrary(handle, path_of(handle, soname));
}

std::set<std::string> loaded_library_files(const std::string& name) {
  struct FileSearch {
    const std::string& name;
    std::set<std::string> found = {};
  } wanted{name};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& all = *static_cast<FileSearch*>(data);
        const std::filesystem::path file = info->dlpi_name;
        std::error_code error;
        if (file.filename().string().starts_with(all.name)) {
          all.found.insert(std::filesystem::weakly_canonical(file, error).string());
        }
        return 0;
      },
      &wanted);
  return wanted.found;
}

std::vector<fs::path> toolkit_library_folders() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') roots.emplace_back(value);
  }
  roots.emplace_back("/usr/local/cuda");
  roots.emplace_back("/opt/cuda");
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    for (const char* below : {"lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib"}) {
      folders.push_back(root / below);
    }
  }
  return folders;
}

}  // namespace attnscope::gpu
