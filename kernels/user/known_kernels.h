// SPDX-License-Identifier: Apache-2.0
// The users' kernels of a process. Those that it starts load the same: an environment variable tells them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::user {

/// Loads a statement into known_algorithms(), or loads it again, as its files are now and by the name that it has now.
/// The error is one line, and then nothing changed; empty where there is none.
[[nodiscard]] Message load_known_kernel(const std::filesystem::path& file);
/// Loads a statement beside others of its name, of which it takes "NAME.2", "NAME.3", ...: what it is known by.
[[nodiscard]] Result<std::string, Message> know_version(const std::filesystem::path& file);
/// The files of a loaded kernel: statement and sources.
struct KernelFiles {
  std::filesystem::path statement;
  std::string name;
  std::vector<std::filesystem::path> sources;
};
[[nodiscard]] const std::vector<KernelFiles>& known_kernel_files();
/// Whether the statement is in its file as it was loaded: a save of the same text changes nothing.
[[nodiscard]] bool is_as_loaded(const KernelFiles&);
/// What the process that started this one had loaded, in that order, and so by the same names.
[[nodiscard]] Message load_inherited_kernels();

/// Of files of results a process takes so many statements that differ, of so many bytes together.
inline constexpr std::size_t most_read_statements = 1000;
inline constexpr std::size_t most_read_statement_bytes = std::size_t{16} << 20U;

/// Adds the statements that a file of results has to known_algorithms(), for reading alone (Facts::for_reading): the
/// law and the knobs of each are then known, unless the process knows the kernel anyway. Nothing that they name is
/// opened. Where another one, of this file or of one before, states a kernel of that name otherwise, neither law is
/// known from then on. A text that is no statement, or is beyond the bounds, counts as a differing statement of each
/// kernel whose points refer to it: algorithms_of(its index), which is also asked where texts have one name, since
/// points of the second of two versions call it NAME.2. One line about each thing that is not taken, or differs from
/// what the process knows, said once. Thread-safe.
[[nodiscard]] std::vector<Message> know_from_file(
    std::span<const std::string_view> texts, const std::filesystem::path& file,
    const std::function<std::vector<std::string>(std::size_t)>& algorithms_of);

}  // namespace attnscope::user
