// SPDX-License-Identifier: Apache-2.0
#include "app/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>

#include "app/program.h"
#include "messages/embedded.h"
#include "profiler/files/file_error.h"
#include "profiler/plan/text.h"

namespace attnscope {

CLI::Validator integer_at_least(std::int64_t least) {
  const std::string range = fmt::format("{} to {}", least, std::numeric_limits<std::int64_t>::max());
  return {[=](const std::string& text) -> std::string {
            if (whole_number<std::int64_t>(text).value_or(-1) >= least) return {};
            return format_text("'{}' is not a whole number from {}", text, range);
          },
          range};
}

void add_language_option(CLI::App& command, std::string& language, const std::string& help) {
  const std::vector<std::string> languages(message_languages().begin(), message_languages().end());
  command.add_option("--lang", language, fmt::format("{}: {}", help, language_list()))
      ->check(CLI::IsMember(languages))
      ->type_name("LANGUAGE")
      ->capture_default_str();
}

void add_cache_option(CLI::App& command, std::string& word) {
  command.add_option("--cache-control", word, "L2 before each launch: all overwrites it (cold), none keeps it (warm)")
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
}

void reject_empty_values(CLI::App& command) {
  const CLI::Validator given(
      [](const std::string& text) -> std::string {
        return text.empty() ? "empty (give a value or omit it)" : std::string();
      },
      "");
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(given);
  }
  for (CLI::App* below : command.get_subcommands(nullptr)) reject_empty_values(*below);
}

CLI::Validator number_in_range(double least, double most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return {[=](const std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
            return format_text("'{}' is not a number from {}", text, range);
          },
          range};
}

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

void require_path_exists(const std::filesystem::path& place) {
  std::error_code error;
  if (std::filesystem::exists(place, error)) return;
  throw CommandError(ExitCode::error, "{} does not exist", place.string());
}

Message unknown_name_message(std::string_view kind, std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t longest_compared = 100;  // the edit distance of long names is slow to compute
  constexpr std::size_t short_list = 12;
  const std::vector<std::string> near = closest_matches(name.substr(0, longest_compared), known);
  if (near.size() == 1 || (!near.empty() && known.size() > short_list))
    return make_message("unknown {} '{}'; did you mean {}?", kind, shortened(name), join_or(near));
  if (known.empty() || known.size() > 2 * short_list) return make_message("unknown {} '{}'", kind, shortened(name));
  return make_message("unknown {} '{}'; available: {}", kind, shortened(name), fmt::join(known, ", "));
}

void require_measurement_name(const std::filesystem::path& file) {
  static constexpr std::array<std::string_view, 12> others{".csv", ".tsv", ".json", ".jsonl", ".xml", ".html",
                                                           ".htm", ".md",  ".txt",  ".pdf",   ".png", ".svg"};
  if (std::ranges::find(others, file.extension().string()) == others.end()) return;
  throw CommandError(ExitCode::usage, "{}: measurements are stored as .attnscope (rename the file of -o)",
                     file.string());
}

std::string explain(const std::exception& error) {
  const bool own =
      dynamic_cast<const CommandError*>(&error) != nullptr || dynamic_cast<const FileError*>(&error) != nullptr;
  if (own) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr) {
    return "out of host memory (use fewer points or smaller problems)";
  }
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return format_text("{}: {} (check path and permissions)", file->path1().string(), file->code().message());
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    return format_text("system error: {} (free the resource and try again)", system->code().message());
  }
  return format_text("internal error: {} (please report it with the command line and `attnscope --version`)",
                     error.what());
}

void leave(ExitCode code) {
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
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
