// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: how they are hung into the program and how they end.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/messages/message.h"

namespace attnscope {

class RunStore;
struct JoinReport;

enum class ExitCode : int {
  ok = 0,
  error = 1,        ///< something went wrong while running
  usage = 2,        ///< the command line asks for what cannot be
  no_counters = 3,  ///< counters were asked for and are not available
  regression = 4,   ///< a comparison that was asked to fail did: `compare --fail-on-regression`
  partial = 5,      ///< cancelled, or some points crashed, hung, failed to compile or came out wrong
};

/// Ends the command: one line on stderr, saying what is wrong and what to do, and the exit code.
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

/// What a subcommand does once its options are read.
using Action = std::function<ExitCode()>;

/// The program's own arguments, as they were given: a run stores them.
using Arguments = std::span<char* const>;

Action add_ab(CLI::App& command, Arguments arguments);
Action add_ceilings(CLI::App& command);
Action add_check(CLI::App& command);
Action add_collect(CLI::App& command, Arguments arguments);
Action add_compare(CLI::App& command);
Action add_doctor(CLI::App& command);
Action add_edit(CLI::App& command);
Action add_export(CLI::App& command);
Action add_gpus(CLI::App& command);
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
Action add_remote(CLI::App& command);
Action add_report(CLI::App& command);
Action add_submit(CLI::App& command, Arguments arguments);
Action add_verify(CLI::App& command);

/// A number from `least` to `most`; CLI::Range() lets a NaN pass.
[[nodiscard]] CLI::Validator number_within(double least, double most);
/// A whole number that 64 bits hold; CLI11 takes the nearest one that they do.
[[nodiscard]] CLI::Validator whole_number_from(std::int64_t least);
/// Every option that takes values refuses one that is empty, as an unset variable of a script gives.
void refuse_empty_values(CLI::App& command);
/// --lang, one of the languages that are built in; `language` is the default.
void add_language_option(CLI::App& command, std::string& language, const std::string& help);

/// Throws CommandError (error) where nothing is at that place: a name that is missing is no fault of the command line.
void require_there(const std::filesystem::path& place);

/// What went wrong, for whoever ran the command: where, and what to do about it. The messages of our own errors are
/// whole; of others, which were not foreseen, the text alone says nothing.
[[nodiscard]] std::string explain(const std::exception&);

/// Warns of conflicts, missing shards, files that were left out and what was not copied; `partial` if the joined file
/// is not whole.
[[nodiscard]] ExitCode with_join_report(const JoinReport&);
/// Warns of rows that reading has skipped until now: how many, and the first; `partial` instead of `ok` if there are.
[[nodiscard]] ExitCode with_skipped_rows(const RunStore& store, ExitCode code);

/// Ends the process at once, with what was printed out: the driver's own exit handlers may wait for a kernel that never
/// ends.
[[noreturn]] void leave(ExitCode code);

/// The text as one line, without anything that steers a terminal.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace attnscope
