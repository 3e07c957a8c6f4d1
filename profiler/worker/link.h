// SPDX-License-Identifier: Apache-2.0
// Line-based connection to a worker process.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"

namespace attnscope::worker {

class Link {
 public:
  virtual ~Link() = default;

  /// Sends a line (without newline) as far as the peer accepts it; receive() sends the rest. Returns false if the peer
  /// has closed the connection.
  virtual bool send(std::string_view line) = 0;

  enum class ReceiveStatus { line, nothing, end };
  /// Waits up to `patience` for a line and stores it without its newline. After `end` no more lines follow. A line
  /// longer than max_line_length also ends the link.
  virtual ReceiveStatus receive(std::string& line, std::chrono::milliseconds patience) = 0;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const { return std::chrono::steady_clock::now(); }

  /// Kills the peer and the processes that it started.
  virtual void kill_peer() = 0;
  /// How the peer ended.
  struct ExitStatus {
    int exit_code = -1;       ///< -1: no regular exit.
    int signal = 0;           ///< Signal that ended it; 0 if none.
    std::string stderr_tail;  ///< Last 4 KiB of its standard error.
  };
  [[nodiscard]] virtual ExitStatus end() = 0;
};

/// Last line of a program's output, without newline and final period.
[[nodiscard]] std::string last_line(std::string_view words);

/// Starts a child process (program from PATH, arguments) and connects to its standard input and output. The child does
/// not receive the terminal's signals. When the link is destroyed, the child's input is closed; if the child does not
/// exit, it is killed. The error is strerror().
[[nodiscard]] Result<std::unique_ptr<Link>, std::string> start_child(std::vector<std::string> words);

/// Connects to a peer that reads `out` and writes `in`: pipes, or one socket. The link closes both; kill_peer() only
/// closes them. SIGPIPE must be ignored unless `out` is a socket. The error is strerror().
[[nodiscard]] Result<std::unique_ptr<Link>, std::string> connect_descriptors(int in, int out);

}  // namespace attnscope::worker
