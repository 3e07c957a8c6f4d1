// SPDX-License-Identifier: Apache-2.0
// Lines to and from a program that speaks for a device elsewhere.
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

  /// Sends a line, without its newline, as far as the other side takes it; receive() sends the rest. Returns false
  /// where nobody takes it any more.
  virtual bool send(std::string_view line) = 0;

  enum class Got { line, nothing, end };
  /// Waits so long for a line, which `line` then holds without its newline. After `end` there is none any more; so it
  /// is with one that is longer than any that is meant.
  virtual Got receive(std::string& line, std::chrono::milliseconds patience) = 0;
  /// By which waiting is bounded.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const { return std::chrono::steady_clock::now(); }

  /// Ends the other side at once, whatever it does.
  virtual void abandon() = 0;
  /// How the other side ended, once it has.
  struct End {
    int exit_code = -1;      ///< -1: it did not end by itself
    int signal = 0;          ///< that ended it
    std::string last_words;  ///< what it said on its standard error, its last 4 KiB
  };
  [[nodiscard]] virtual End end() = 0;
};

/// The last line of what a program said, without its end and full stop.
[[nodiscard]] std::string last_line(std::string_view words);

/// A child process, by its name in PATH and its arguments, whose standard input and output are the link. It gets no
/// terminal's signals; when the link goes, its input ends, and it is killed where that does not end it. The error says
/// what the system said.
[[nodiscard]] Result<std::unique_ptr<Link>, std::string> start_child(const std::vector<std::string>& words);

}  // namespace attnscope::worker
