// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "profiler/plan/cancel_token.h"

namespace attnscope {

struct CommandOutput {
  std::string text;   ///< complete lines of stdout
  std::string error;  ///< last line of stderr; empty if the command succeeded
  bool killed = false;
  bool started = true;
};

/// Runs a command (program from PATH, arguments) with further environment variables (NAME=VALUE). Kills it, with the
/// processes that it started, after `limit` or on cancellation.
[[nodiscard]] CommandOutput run_to_end(const std::vector<std::string>& words, std::chrono::milliseconds limit,
                                       const CancelToken& cancel, std::span<const std::string> environment = {});

}  // namespace attnscope
