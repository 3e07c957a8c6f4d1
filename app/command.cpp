// SPDX-License-Identifier: Apache-2.0
#include "app/command.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>

#include "messages/command.h"
#include "messages/file.h"
#include "messages/terminal.h"
#include "profiler/plan/text.h"
#include "storage/merge.h"
#include "storage/run_store.h"

namespace attnscope {

CLI::Validator whole_number_from(std::int64_t least) {
  const std::string range = fmt::format("{} to {}", least, std::numeric_limits<std::int64_t>::max());
  return {[=](const std::string& text) -> std::string {
            std::int64_t value = 0;
            const char* const last = text.data() + text.size();
            const auto [end, error] = std::from_chars(text.data(), last, value);
            if (error == std::errc() && end == last && value >= least) return {};
            return attnscope::text(say::terminal::not_in_range{.word = text, .range = range});
          },
          range};
}

void refuse_empty_values(CLI::App& command) {
  const CLI::Validator given(
      [](const std::string& text) -> std::string {
        return text.empty() ? attnscope::text(say::terminal::empty_word{}) : std::string();
      },
      "");
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(given);
  }
  for (CLI::App* below : command.get_subcommands(nullptr)) refuse_empty_values(*below);
}

CLI::Validator number_within(double least, double most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return {[=](const std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && value >= least && value <= most) return {};
            return attnscope::text(say::terminal::not_in_range{.word = text, .range = range});
          },
          range};
}

void require_there(const std::filesystem::path& place) {
  std::error_code error;
  if (std::filesystem::exists(place, error)) return;
  throw CommandError(ExitCode::error, say::file::missing{.file = place.string()});
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

ExitCode with_join_report(const JoinReport& report) {
  for (const auto* messages : {&report.left_out, &report.missing, &report.not_copied}) {
    for (const Message& message : *messages) spdlog::warn("{}", one_line(text(message)));
  }
  return report.whole() ? ExitCode::ok : ExitCode::partial;
}

ExitCode with_skipped_rows(const RunStore& store, ExitCode code) {
  const std::vector<BadRow> rows = store.bad_rows();
  const std::string file = printable(store.file().string());
  if (const std::size_t unchecked = store.unchecked_points(); unchecked > 0) {
    spdlog::warn("{}", text(say::command::points_unchecked{.file = file, .points = unchecked}));
  }
  if (rows.empty()) return code;
  const std::string where = printable(text(rows.front().where));
  const std::string why = printable(text(rows.front().why));
  if (rows.size() == 1) {
    spdlog::warn("{}", text(say::command::row_skipped{.file = file, .where = where, .why = why}));
  } else {
    spdlog::warn("{}", text(say::command::rows_skipped{.rows = rows.size(), .file = file, .where = where, .why = why}));
  }
  return code == ExitCode::ok ? ExitCode::partial : code;
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
