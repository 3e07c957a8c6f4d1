// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/plan/cancel_token.h"

namespace attnscope::gpu {

struct ChildOutput {
  int exit_code = -1;  ///< -1: not started or killed
  bool timed_out = false;
  bool cancelled = false;
  std::string text;  ///< stdout and stderr, at most 1 MiB; the system's error if the program did not start
};

/// Runs a program without a shell and without input, with `temporary` as its TMPDIR and without the variables that add
/// options or include folders to compilers. Kills it and its children after `limit` or if cancelled.
[[nodiscard]] ChildOutput run_child(const std::vector<std::string>& arguments, const std::filesystem::path& temporary,
                                    std::chrono::milliseconds limit, const CancelToken& cancel = {});

}  // namespace attnscope::gpu
