// SPDX-License-Identifier: Apache-2.0
#include "app/command.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "profiler/plan/text.h"
#include "storage/run_store.h"

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

std::string explain(const std::exception& error) {
  const bool own =
      dynamic_cast<const CommandError*>(&error) != nullptr || dynamic_cast<const StorageError*>(&error) != nullptr;
  if (own) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr) {
    return "the computer's memory is used up: ask for fewer points or smaller problems at once, or close other "
           "programs";
  }
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return fmt::format("{}: {}; check that it is there and that you may use it", file->path1().string(),
                       file->code().message());
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    return fmt::format("the system refused what was needed: {}; free what it lacks, and try again",
                       system->code().message());
  }
  return fmt::format(
      "an error that was not foreseen ended the command: {}; what is in files already stays there; "
      "please report it with the command line and `attnscope --version`",
      error.what());
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
