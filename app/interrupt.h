// SPDX-License-Identifier: Apache-2.0
// Cancels the work after the current launch on Ctrl-C, SIGTERM and SIGHUP; a second Ctrl-C exits at once.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "profiler/measure/device.h"

namespace attnscope {

/// Returns the process's cancel token; the first call installs the signal handlers.
CancelToken& cancel_on_signals();

/// Also cancels if stdin ends or has a line "cancel". Ignores a stdin that is /dev/null.
void cancel_on_stdin(CancelToken&);

/// Reads lines from a descriptor on a thread that can be stopped.
class LineReader {
 public:
  /// Starts the thread. `on_line`: called without line break; `on_end`: after the end of the input, a read error, or a
  /// line longer than max_line_length. Throws std::system_error.
  LineReader(std::function<void(std::string_view line)> on_line, std::function<void()> on_end, int descriptor = 0);

 private:
  std::jthread thread_;
};

}  // namespace attnscope
