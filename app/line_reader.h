// SPDX-License-Identifier: Apache-2.0
// Lines of standard input as they come, on a thread of their own, which can be stopped.
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
    std::function<void(std::string_view line)> on_line;  ///< without its newline
    std::function<void()> on_long_line;                  ///< instead of one of more than `longest` bytes
    std::function<void()> on_end;                        ///< the input ended, or failed
  };
  /// Calls the listener on its thread from now on. Throws std::system_error.
  LineReader(Listener listener, std::size_t longest);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader();

 private:
  void read();
  void take(std::string_view bytes);

  Listener listener_;
  std::size_t longest_;
  std::string line_;
  bool skipping_ = false;  ///< the rest of a line that is too long
  int stop_;               ///< an eventfd
  std::thread thread_;
};

}  // namespace attnscope
