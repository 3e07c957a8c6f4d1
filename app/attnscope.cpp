// SPDX-License-Identifier: Apache-2.0
// Entry point of the command line program. Results go to stdout, everything else to stderr.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/command_help.h"
#include "app/program.h"
#include "app/python/python_kernels.h"
#include "kernels/user/known_kernels.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/text.h"

namespace {

using attnscope::Action;
using attnscope::ExitCode;
using attnscope::make_message;
using attnscope::Message;
using attnscope::text;

int fail(ExitCode code, const std::string& message) {
  // fputs, not iostreams: must not throw if stderr is a closed pipe.
  std::fputs(fmt::format("error: {}\n", attnscope::one_line(message)).c_str(), stderr);
  return static_cast<int>(code);
}

/// Flushes stdout and returns the exit code. Unwritten output is an error unless `code` is already one.
int ended(ExitCode code) {
  std::cout.flush();
  // An earlier failed write is only visible in ferror().
  const bool written = std::cout && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || code != ExitCode::ok) return static_cast<int>(code);
  return fail(ExitCode::error, "cannot write to stdout (check for a full disk or a closed pipe)");
}

/// Returns the innermost command of the command line.
const CLI::App& command_of(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

Message unknown_argument(const CLI::App& command, const std::string& argument) {
  std::vector<std::string> known;
  if (argument.starts_with('-')) {
    for (const CLI::Option* option : command.get_options()) {
      if (option->nonpositional() && !option->get_lnames().empty())
        known.push_back("--" + option->get_lnames().front());
    }
    return attnscope::unknown_name_message("option", argument.substr(0, argument.find('=')), known);
  }
  for (const CLI::App* each : command.get_subcommands(nullptr)) known.push_back(each->get_name());
  if (!known.empty()) return attnscope::unknown_name_message("command", argument, known);
  return make_message("unexpected argument '{}'", attnscope::shortened(argument));
}

/// "NAME: VALUE not in {a,b}" or "NAME: Value VALUE not in range 1 to 9"
Message invalid_value(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return Message::verbatim(std::string(text));
  const std::string_view name = text.substr(0, colon);
  const std::string_view why = text.substr(colon + 2);
  constexpr std::string_view value = "Value ";
  constexpr std::string_view outside = " not in range ";
  if (const std::size_t range = why.find(outside); range != std::string_view::npos && why.starts_with(value)) {
    return make_message("invalid value of {}: {} is not a number from {}", name,
                        attnscope::shortened(why.substr(value.size(), range - value.size())),
                        why.substr(range + outside.size()));
  }
  constexpr std::string_view between = " not in {";
  const std::size_t list = why.find(between);
  if (list == std::string_view::npos || !why.ends_with('}')) return make_message("invalid value of {}: {}", name, why);
  std::vector<std::string> known;
  std::string_view rest = why.substr(list + between.size());
  rest.remove_suffix(1);
  for (std::size_t end = 0; end != std::string_view::npos; rest.remove_prefix(std::min(end + 1, rest.size()))) {
    end = rest.find(',');
    known.emplace_back(rest.substr(0, end));
  }
  return attnscope::unknown_name_message(fmt::format("value of {}", name), why.substr(0, list), known);
}

Message reason_of(const CLI::App& command, const CLI::ParseError& error) {
  const std::string_view text = error.what();
  const auto before = [&](std::string_view end) { return text.substr(0, std::min(text.find(end), text.size())); };
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::string_view name = before(" is required");
    if (name.starts_with('-')) return make_message("missing option {}", name);
    if (command.get_parent() == nullptr) return "missing command";
    if (!command.get_subcommands(nullptr).empty()) {
      std::vector<std::string> names;
      for (const CLI::App* each : command.get_subcommands(nullptr)) names.push_back(each->get_name());
      return make_message("missing command; available: {}", fmt::join(names, ", "));
    }
    return make_message("missing argument {}", name);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with(" missing"))
    return make_message("missing value of {}", before(": "));
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return make_message("{} and {} exclude each other; give one of them", before(" excludes "),
                        text.substr(std::min(text.find(" excludes ") + 10, text.size())));
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return invalid_value(text);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string_view pair = text.substr(std::min(text.find(": ") + 2, text.size()));
    const std::size_t equals = pair.find(" = ");
    if (equals != std::string_view::npos)
      return make_message("invalid value of {}: '{}' is not a number", pair.substr(0, equals), pair.substr(equals + 3));
  }
  return Message::verbatim(std::string(text));
}

/// Maps CLI11's parse errors to exit code 2, and --help and --version to 0.
int parse_failure(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = command_of(app);
  // With --help, CLI11 does not report unknown arguments.
  const bool help = error.get_exit_code() == 0;
  const std::vector<std::string> unknown =
      command.get_allow_extras() && !help ? std::vector<std::string>() : app.remaining(true);
  if (help && unknown.empty()) {
    app.exit(error);
    return ended(ExitCode::ok);
  }
  const Message reason = unknown.empty() ? reason_of(command, error) : unknown_argument(command, unknown.front());
  return fail(ExitCode::usage, attnscope::format_text("{} (see `{} --help`)", reason, path_of(command)));
}

using Commands = std::vector<std::pair<CLI::App*, Action>>;

Commands add_commands(CLI::App& app, const attnscope::Arguments& arguments) {
  Commands commands;
  const auto add = [&](const char* name, auto&& setup) {
    CLI::App* command = app.add_subcommand(name);
    commands.emplace_back(command, setup(*command));
  };
  const auto with_arguments = [&](auto setup) {
    return [setup, &arguments](CLI::App& command) { return setup(command, arguments); };
  };
  add("doctor", attnscope::add_doctor);
  add("collect", with_arguments(attnscope::add_collect));
  add("verify", attnscope::add_verify);
  add("model", attnscope::add_model);
  add("ceilings", attnscope::add_ceilings);
  add("kernels", attnscope::add_kernels);
  add("launch", attnscope::add_launch);
  add("worker", attnscope::add_worker);
  add("export", attnscope::add_export);
  add("import", with_arguments(attnscope::add_import));
  add("paper", attnscope::add_paper);
  add("law", attnscope::add_law);
  add("scaling", attnscope::add_scaling);
  add("lesson", attnscope::add_lesson);
  add("compare", attnscope::add_compare);
  add("ab", with_arguments(attnscope::add_ab));
  add("report", attnscope::add_report);
  add("info", attnscope::add_info);
  add("edit", attnscope::add_edit);
  add("merge", attnscope::add_merge);
  add("submit", with_arguments(attnscope::add_submit));
  add("check", attnscope::add_check);
  add("help", attnscope::add_help);
  return commands;
}

int run(int argc, char** argv) {
  CLI::App app("", "attnscope");
  app.require_subcommand(1);

  const attnscope::Arguments arguments(argv, static_cast<std::size_t>(argc));
  const Commands commands = add_commands(app, arguments);
  const auto add_common = [](CLI::App& command) {
    command.set_version_flag("--version", "attnscope " + std::string(attnscope::program_version()),
                             "Print the version and exit");
  };
  add_common(app);
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    add_common(*command);
    for (CLI::App* below : command->get_subcommands(nullptr)) add_common(*below);
    attnscope::reject_empty_values(*command);
  }
  attnscope::add_command_help(app);

  // Arguments after "--" of submit belong to sbatch.
  const auto is_sbatch_separator = [&](const char* word) {
    return argc > 1 && std::string_view(argv[1]) == "submit" && std::string_view(word) == "--";
  };
  try {
    app.parse(static_cast<int>(std::ranges::find_if(arguments, is_sbatch_separator) - arguments.begin()), argv);
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error);
  }
  for (const auto& [command, action] : commands) {
    if (!command->parsed()) continue;
    return ended(action());
  }
  return fail(ExitCode::usage, "missing command (see `attnscope --help`)");
}

/// Escapes control characters on a terminal, except line breaks and tabs. Unbuffered, so that output by stdio and by
/// streams stays in order.
class EscapingBuffer : public std::streambuf {
 protected:
  std::streamsize xsputn(const char* text, std::streamsize length) override {
    std::string_view rest(text, static_cast<std::size_t>(length));
    std::string shown;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of("\n\t"), rest.size());
      shown += attnscope::printable(rest.substr(0, end));
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

void escape_terminal_output() {
  if (::isatty(STDOUT_FILENO) == 0) return;
  static EscapingBuffer& escaping_buffer = *new EscapingBuffer;  // never deleted, because std::cout is flushed at exit
  std::cout.rdbuf(&escaping_buffer);
}

}  // namespace

int main(int argc, char** argv) {
  attnscope::reserve_standard_descriptors();
  escape_terminal_output();
  // Makes a write beyond the file size limit an error instead of a fatal signal.
  std::signal(SIGXFSZ, SIG_IGN);
  spdlog::set_default_logger(spdlog::stderr_color_mt("attnscope"));
  spdlog::set_pattern("%^%l%$: %v");
  attnscope::enable_python_kernels();
  try {
    if (const attnscope::Message wrong = attnscope::user::load_inherited_kernels(); !wrong.empty())
      return fail(ExitCode::usage, text(wrong));
    return run(argc, argv);
  } catch (const attnscope::CommandError& error) {
    return fail(error.code(), error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::error, attnscope::explain(error));
  } catch (...) {
    return fail(ExitCode::error, "internal error of unknown type (please report it)");
  }
}
