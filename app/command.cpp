// SPDX-License-Identifier: Apache-2.0
#include "app/command.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "messages/terminal.h"
#include "profiler/plan/text.h"
#include "storage/run_store.h"

namespace attnscope {

CLI::Validator number_within(double least, double most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return {[=](const std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
            return attnscope::text(say::terminal::not_in_range{.word = text, .range = range});
          },
          range};
}

std::string explain(const std::exception& error) {
  const bool own =
      dynamic_cast<const CommandError*>(&error) != nullptr || dynamic_cast<const StorageError*>(&error) != nullptr;
  if (own) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr) {
    return text(say::terminal::memory_used_up{});
  }
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return text(say::terminal::file_trouble{.file = file->path1().string(), .error = file->code().message()});
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    return text(say::terminal::system_refused{.error = system->code().message()});
  }
  return text(say::terminal::unforeseen{.error = error.what()});
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
