// SPDX-License-Identifier: Apache-2.0
// User-defined kernels of a process. Child processes load the same ones, which an environment variable lists.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/user/user_kernel.h"

namespace attnscope::user {

/// A function of a Python file (.py, or .pkl by cloudpickle).
struct PythonFunction {
  std::filesystem::path file;
  std::string name;
};
/// Splits "FILE.py:NAME" at the last colon; nullopt for other paths, which name manifests.
[[nodiscard]] std::optional<PythonFunction> parse_python_function(const std::filesystem::path& kernel);
/// Returns the manifest of a Python function. The error is one line without the file.
using PythonDescriber = std::function<Result<std::string, Message>(const PythonFunction&)>;
/// Call before loading kernels.
void set_python_describer(PythonDescriber describer);

/// Reads a kernel without loading it: a manifest file, or a function as "FILE.py:NAME".
[[nodiscard]] Result<std::unique_ptr<const UserKernel>, Message> read_kernel(const std::filesystem::path& kernel);
/// Loads a kernel into known_algorithms(), or reloads it with its current files and name. `kernel`: see read_kernel().
/// Returns a one-line error, in which case nothing changes; empty on success.
[[nodiscard]] Message load_known_kernel(const std::filesystem::path& kernel);
/// Loads a kernel in addition to others of the same name, as "NAME.2", "NAME.3", ... Returns the name.
[[nodiscard]] Result<std::string, Message> load_kernel_version(const std::filesystem::path& kernel);
/// Files of a loaded kernel: manifest and sources.
struct KernelFiles {
  std::filesystem::path manifest;  ///< absolute; "FILE.py:NAME" for a Python function
  std::string name;
  std::vector<std::filesystem::path> sources;
  std::string content;  ///< of the manifest file or the Python file, as loaded
};
[[nodiscard]] const std::vector<KernelFiles>& loaded_kernel_files();
/// Returns true if a loaded kernel is a Python function.
[[nodiscard]] bool has_python_kernels();
/// File that defines the kernel: the manifest or the Python file.
[[nodiscard]] std::filesystem::path defining_file(const KernelFiles&);
/// Returns true if the defining file still has the content that was loaded.
[[nodiscard]] bool is_unchanged(const KernelFiles&);
/// Loads the kernels of the parent process in the same order, so that they get the same names. Unloads all others.
[[nodiscard]] Message load_inherited_kernels();

/// Limits for manifests from results files: number of distinct ones and total size.
inline constexpr std::size_t max_collected_manifests = 1000;
inline constexpr std::size_t max_collected_bytes = std::size_t{16} << 20U;

/// Adds the manifests of a results file to known_algorithms() with Facts::model_only, so that their laws and knobs are
/// available, unless the kernel is already loaded. Files that they name are not opened. If manifests of one name
/// differ, in this file or an earlier one, the kernel's law becomes unknown. An invalid or excess manifest counts as a
/// differing one for each kernel whose points refer to it: algorithms_of(its index). That function is also used if
/// several manifests have one name, since points of the second version call it NAME.2. Returns one line per rejected or
/// differing manifest, each only once. Thread-safe.
[[nodiscard]] std::vector<Message> add_manifests_from_file(
    std::span<const std::string_view> texts, const std::filesystem::path& file,
    const std::function<std::vector<std::string>(std::size_t)>& algorithms_of);

}  // namespace attnscope::user
