// SPDX-License-Identifier: Apache-2.0
// Serves the worker protocol: in the command `attnscope worker` and in a Python process (app/python/library.cpp).
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "app/command.h"
#include "profiler/plan/cancel_token.h"

namespace attnscope {

struct WorkerOptions {
  std::string device;
  std::string uuid;  ///< internal: UUID of the device of a resumed run
  bool no_counters = false;
};
[[nodiscard]] std::shared_ptr<WorkerOptions> add_worker_options(CLI::App& command);

/// Opens the device, reads requests from descriptor `in` and writes events to `out`. Returns after the end of the
/// input, which sets `cancel`, or if `cancel` is set. Exits the process if the device is lost. Throws CommandError,
/// without having written anything, if the device cannot be opened.
ExitCode serve_worker(const WorkerOptions& options, int in, int out, CancelToken& cancel);
/// Writes to descriptor `out` that the worker could not start.
void send_worker_failure(const CommandError& error, int out);

}  // namespace attnscope
