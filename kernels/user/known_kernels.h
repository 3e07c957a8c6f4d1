// SPDX-License-Identifier: Apache-2.0
// The users' kernels of a process. Those that it starts load the same: an environment variable tells them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// Loads a statement into known_algorithms(), or loads it again, as its files are now. The error is one line, and then
/// nothing changed; empty where there is none.
[[nodiscard]] Message load_known_kernel(const std::filesystem::path& file);
/// Loads a statement beside others of its name, of which it takes "NAME.2", "NAME.3", ...: what it is known by.
[[nodiscard]] Result<std::string, Message> know_version(const std::filesystem::path& file);
/// The files of a loaded kernel: statement and sources.
struct KernelFiles {
  std::filesystem::path statement;
  std::vector<std::filesystem::path> sources;
};
[[nodiscard]] const std::vector<KernelFiles>& known_kernel_files();
/// What the process that started this one had loaded.
[[nodiscard]] Message load_inherited_kernels();

/// Adds what a file of results has of a statement to known_algorithms(), for reading alone (Facts::for_reading): its
/// law and its knobs are then known, unless the process knows the kernel anyway. Nothing that it names is opened. Where
/// another file states a kernel of that name otherwise, neither law is known from then on. One line about what is not
/// taken, or differs from what the process knows, said once; else empty. Thread-safe.
[[nodiscard]] Message know_from_file(std::string_view text, const std::filesystem::path& file);

}  // namespace attnscope::user
