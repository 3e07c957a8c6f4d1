// SPDX-License-Identifier: Apache-2.0
// Exit codes, errors and option helpers shared by all commands.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/messages/message.h"

namespace attnscope {

class RunStore;
struct MergeReport;

enum class ExitCode : int {
  ok = 0,
  error = 1,        ///< runtime error
  usage = 2,        ///< invalid command line
  no_counters = 3,  ///< counters are required and not available
  regression = 4,   ///< `compare --fail-on-regression` found a regression
  partial = 5,      ///< cancelled, or some points crashed, timed out, failed to compile or were incorrect
};

/// Ends the command with `code` after printing the message as one line on stderr.
class CommandError : public std::runtime_error {
 public:
  CommandError(ExitCode code, Message message)
      : std::runtime_error(text(message)), code_(code), message_(std::move(message)) {}
  template <class First, class... Rest>
  CommandError(ExitCode code, fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : CommandError(code,
                     make_message<First, Rest...>(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
  [[nodiscard]] ExitCode code() const { return code_; }
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  ExitCode code_;
  Message message_;
};

/// Runs a command whose options have been parsed.
using Action = std::function<ExitCode()>;

/// argv, stored with each run.
using Arguments = std::span<char* const>;

Action add_ab(CLI::App& command, Arguments arguments);
Action add_ceilings(CLI::App& command);
Action add_check(CLI::App& command);
Action add_collect(CLI::App& command, Arguments arguments);
Action add_compare(CLI::App& command);
Action add_doctor(CLI::App& command);
Action add_edit(CLI::App& command);
Action add_export(CLI::App& command);
Action add_scaling(CLI::App& command);
Action add_help(CLI::App& command);
Action add_import(CLI::App& command, Arguments arguments);
Action add_info(CLI::App& command);
Action add_kernels(CLI::App& command);
Action add_launch(CLI::App& command);
Action add_law(CLI::App& command);
Action add_lesson(CLI::App& command);
Action add_merge(CLI::App& command);
Action add_model(CLI::App& command);
Action add_paper(CLI::App& command);
Action add_worker(CLI::App& command);
Action add_report(CLI::App& command);
Action add_submit(CLI::App& command, Arguments arguments);
Action add_verify(CLI::App& command);

/// Parses a whole number from 0.
template <class T = int>
[[nodiscard]] std::optional<T> whole_number(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

/// Accepts numbers in [least, most]; unlike CLI::Range(), rejects NaN.
[[nodiscard]] CLI::Validator number_in_range(double least, double most);
/// Adds an option for a number in [least, most]; `value` holds its default.
template <class T>
CLI::Option* add_number_option(CLI::App& command, const char* name, T& value, double least, double most,
                               const char* help) {
  return command.add_option(name, value, help)->check(number_in_range(least, most))->capture_default_str();
}
/// Adds --cache-control; `word` holds its default.
void add_cache_option(CLI::App& command, std::string& word);
/// Accepts 64-bit integers from `least`; unlike CLI11, rejects values out of range instead of clamping them.
[[nodiscard]] CLI::Validator integer_at_least(std::int64_t least);
/// Makes every option reject an empty value, such as an unset shell variable.
void reject_empty_values(CLI::App& command);
/// Adds --lang; `language` holds the default.
void add_language_option(CLI::App& command, std::string& language, const std::string& help);

/// "attnscope kernels build".
[[nodiscard]] std::string path_of(const CLI::App& command);

/// "unknown option '--presett'; did you mean --preset?" or "unknown algorithm 'fa9'; available: naive, fa1".
[[nodiscard]] Message unknown_name_message(std::string_view kind, std::string_view name,
                                           std::span<const std::string> known);

/// Throws CommandError (usage) if -o names a file for measurements whose suffix is that of another format.
void require_measurement_name(const std::filesystem::path& file);

/// Throws CommandError (error) if `place` does not exist.
void require_path_exists(const std::filesystem::path& place);

/// Returns the message of an exception for the user: what happened, where, and what to do.
[[nodiscard]] std::string explain(const std::exception&);

/// Logs conflicts, missing shards, skipped files and data that was not copied. Returns `partial` if the merged file is
/// incomplete.
[[nodiscard]] ExitCode log_merge_report(const MergeReport&);
/// Logs how many damaged rows of `store` were skipped, and the first one. Returns `partial` instead of `ok` if there
/// are any.
[[nodiscard]] ExitCode log_skipped_rows(const RunStore& store, ExitCode code);

/// Flushes stdout and exits without running exit handlers: the driver's may wait for a kernel that never ends.
[[noreturn]] void leave(ExitCode code);

/// Replaces line breaks by spaces and escapes control characters.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace attnscope
