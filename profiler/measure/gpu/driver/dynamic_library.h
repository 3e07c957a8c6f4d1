// SPDX-License-Identifier: Apache-2.0
// The seam between this program and the vendor's libraries: none is linked, each is looked for when it is first needed,
// so that one binary starts on a laptop with none of them, and tests can put a library of their own in its place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::gpu {

/// What to open, and where it may lie.
struct LibrarySearch {
  std::string title;                           ///< "CUPTI": for messages
  const char* override_variable = nullptr;     ///< environment variable whose value, a path, replaces the search
  std::vector<std::string> names;              ///< sonames, best first
  std::vector<std::filesystem::path> folders;  ///< looked into before the loader's own path
};

/// Why a library is not there to use.
struct LibraryError {
  Message what;         ///< one sentence
  bool absent = false;  ///< no such file was found; else there is one, and it did not load
};

/// A library that stays loaded until the process ends: CUDA's libraries keep threads and exit handlers of their own.
class DynamicLibrary {
 public:
  /// In this order: the override, a copy already loaded, the folders, the loader's path. The error names
  /// what was looked for and, when a file was found but did not load, the loader's own words.
  [[nodiscard]] static Result<DynamicLibrary, LibraryError> open(const LibrarySearch& search);

  /// nullptr when the library has no such symbol.
  [[nodiscard]] void* symbol(const char* name) const;
  /// The file that was loaded.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Fills a function pointer; false when the symbol is missing.
  template <class Function>
  [[nodiscard]] bool bind(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  DynamicLibrary(void* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::filesystem::path path_;
};

/// Library folders of the CUDA toolkits of this machine: CUDA_PATH, CUDA_HOME, then the usual places.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_library_folders();

}  // namespace attnscope::gpu
