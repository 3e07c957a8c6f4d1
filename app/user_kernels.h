// SPDX-License-Identifier: Apache-2.0
// User-defined kernels: --kernel FILE or FILE.py:NAME, and manifests stored in files of results.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>

#include "storage/run_store.h"

namespace attnscope {

/// Adds --kernel. Loads the manifest during parsing, so that axes can name the kernel. Parsing throws CommandError
/// (usage).
void add_kernel_option(CLI::App& command);

/// Throws CommandError (error) if the file of a kernel, as --kernel accepts it, does not exist.
void require_kernel_exists(const std::string& kernel);

/// Returns a digest of the loaded manifests and their current sources (without headers), which is part of the plan's
/// hash. Empty if none is loaded.
[[nodiscard]] std::string user_kernels_digest();

/// Registers the user-defined kernels of a store for reading; logs manifests that are rejected.
void register_stored_kernels(const RunStore&);
/// Opens the file and registers its kernels. Throws FileError.
void register_stored_kernels(const std::filesystem::path& file);

}  // namespace attnscope
