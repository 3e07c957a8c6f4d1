// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace attnscope {

/// One line at the bottom of a terminal that is written over; nothing where stderr is no terminal.
class StatusLine {
 public:
  StatusLine();

  void show(const std::string& text);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace attnscope
