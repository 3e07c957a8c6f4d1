// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace attnscope::testing {

/// Returns the lines below "Examples:" in the help of a command.
inline std::vector<std::string> distinct_rows(const std::string& help) {
  std::vector<std::string> examples;
  const std::string title = "\nExamples:\n";
  const std::size_t begin = help.find(title);
  if (begin == std::string::npos) return examples;
  std::istringstream lines(help.substr(begin + title.size()));
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");) examples.push_back(line.substr(2));
  return examples;
}

}  // namespace attnscope::testing
