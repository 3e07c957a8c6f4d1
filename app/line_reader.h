// SPDX-License-Identifier: Apache-2.0
// Reads lines from stdin or another descriptor, on a thread that can be stopped.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace attnscope {

class LineReader {
 public:
  struct Listener {
    std::function<void(std::string_view line)> on_line;  ///< without line break
    std::function<void()> on_long_line;                  ///< called instead for a line longer than `longest` bytes
    std::function<void()> on_end;                        ///< end of input or read error
  };
  /// Starts the thread, which calls the listener. Throws std::system_error.
  LineReader(Listener listener, std::size_t longest, int descriptor = 0);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

 private:
  void read();
  void consume(std::string_view bytes);

  Listener listener_;
  std::size_t longest_;
  int descriptor_;
  std::string line_;
  bool skipping_ = false;  ///< until the end of a line that is too long
  int stop_;               ///< eventfd
  std::thread thread_;
};

}  // namespace attnscope
