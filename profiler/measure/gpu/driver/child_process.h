// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::gpu {

struct ChildOutput {
  int exit_code = -1;  ///< -1: not started, killed or timed out
  bool timed_out = false;
  std::string text;  ///< stdout and stderr, at most 1 MiB; the system's error if the program did not start
};

/// Runs a program without a shell and without input, with `temporary` as its TMPDIR. Kills it and its children after
/// `limit`.
[[nodiscard]] ChildOutput run_child(const std::vector<std::string>& words, const std::filesystem::path& temporary,
                                    std::chrono::milliseconds limit);

}  // namespace attnscope::gpu
