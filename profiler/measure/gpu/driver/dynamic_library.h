// SPDX-License-Identifier: Apache-2.0
// Opens NVIDIA's libraries at run time. Nothing is linked, so that one binary also starts without a GPU and tests can
// substitute libraries.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::gpu {

struct LibrarySearch {
  std::string title;                           ///< For messages: "CUPTI".
  const char* override_variable = nullptr;     ///< Environment variable with a path that replaces the search.
  std::vector<std::string> names;              ///< Sonames in order of preference.
  std::vector<std::filesystem::path> folders;  ///< Searched before the loader's path.
};

struct LibraryError {
  Message what;         ///< one sentence
  bool absent = false;  ///< True if no file was found; false if a file was found but did not load.
};

/// A library that stays loaded until the process ends, since CUDA's libraries have threads and exit handlers.
class DynamicLibrary {
 public:
  /// Tries the override, then a loaded copy, the folders and the loader's path. The error lists the names that were
  /// searched, or quotes the loader if a file did not load.
  [[nodiscard]] static Result<DynamicLibrary, LibraryError> open(const LibrarySearch& search);
  /// Returns the loaded library with this soname, from any path.
  [[nodiscard]] static std::optional<DynamicLibrary> find_loaded(const std::string& soname);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Sets a function pointer; returns false if the symbol is missing.
  template <class Function>
  [[nodiscard]] bool bind(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(::dlsym(handle_, name));
    return function != nullptr;
  }

 private:
  DynamicLibrary(void* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::filesystem::path path_;
};

/// For C interfaces; valid as long as the strings.
[[nodiscard]] inline std::vector<const char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  pointers.reserve(strings.size());
  for (const std::string& each : strings) pointers.push_back(each.c_str());
  return pointers;
}

/// Paths of loaded libraries whose file name begins with `name`, in any version.
[[nodiscard]] std::set<std::string> loaded_library_files(const std::string& name);

/// Library folders of installed CUDA toolkits: CUDA_PATH, CUDA_HOME, then the default locations.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_library_folders();

}  // namespace attnscope::gpu
