// SPDX-License-Identifier: Apache-2.0
#include "app/terminal_output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "profiler/plan/text.h"

namespace attnscope {
namespace {

/// Hands on at once what it gets, as std::cout does, so that lines by stdio stay between those by stream.
class SpelledOut : public std::streambuf {
 protected:
  std::streamsize xsputn(const char* text, std::streamsize length) override {
    std::string_view rest(text, static_cast<std::size_t>(length));
    std::string shown;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of("\n\t"), rest.size());
      shown += printable(rest.substr(0, end));
      if (end < rest.size()) shown += rest[end];
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() ? length : 0;
  }
  int_type overflow(int_type byte) override {
    if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
    const char character = traits_type::to_char_type(byte);
    return xsputn(&character, 1) == 1 ? byte : traits_type::eof();
  }
  int sync() override { return std::fflush(stdout); }
};

}  // namespace

void spell_out_for_a_terminal() {
  if (::isatty(STDOUT_FILENO) == 0) return;
  static SpelledOut& spelled_out = *new SpelledOut;  // outlives the last flush
  std::cout.rdbuf(&spelled_out);
}

}  // namespace attnscope
