// SPDX-License-Identifier: Apache-2.0
#include "app/command.h"

#include <fmt/format.h>

#include "profiler/plan/text.h"

namespace attnscope {

CLI::Validator number_within(double least, double most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return {[=](const std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
            return fmt::format("'{}' is not a number from {}", text, range);
          },
          range};
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::string line;
  for (const char c : text) {
    if (c != '\n') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return printable(line);
}

}  // namespace attnscope
