// SPDX-License-Identifier: Apache-2.0
// Kernels of the user's own: --kernel FILE, and what files of results say of them.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>

#include "storage/run_store.h"

namespace attnscope {

/// Loads the statement while the words are parsed, so that axes may name it. Parsing throws CommandError (usage).
void add_kernel_option(CLI::App& command);

/// Of the statements that this process has loaded and their sources, as they are now: what a plan is known by besides.
/// Headers are not among them. Empty where none is loaded.
[[nodiscard]] std::string own_kernels_digest();

/// Makes known, for reading, what a file of results says of kernels that are not; warns of what is not taken.
void know_kernels_of(const RunStore&);
/// Registers the user-defined kernels of a file. Throws FileError.
void know_kernels_of(const std::filesystem::path& file);

}  // namespace attnscope
