// SPDX-License-Identifier: Apache-2.0
// The command line program. stdout carries results, stderr everything else.
#include <fmt/format.h>
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
#include "app/program.h"
#include "kernels/user/known_kernels.h"
#include "profiler/measure/host_environment.h"
#include "profiler/plan/text.h"

namespace {

using attnscope::Action;
using attnscope::ExitCode;
using attnscope::text;

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 runtime error, 2 usage, 3 counters asked for but not available, 4 `compare "
    "--fail-on-regression` found one, 5 partial or cancelled.";

int fail(ExitCode code, const std::string& message) {
  // Where stderr is a closed pipe, too, nobody is left to tell: no exception from here.
  std::fputs(fmt::format("attnscope: {}\n", attnscope::one_line(message)).c_str(), stderr);
  return static_cast<int>(code);
}

/// The exit code, once all output is out: lines that nobody got are an error, unless there is a worse one.
int ended(ExitCode code) {
  std::cout.flush();
  // A write that failed long ago left its mark; the flush alone has nothing left to write.
  const bool written = std::cout && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || code != ExitCode::ok) return static_cast<int>(code);
  return fail(ExitCode::error, "the output could not be written: is the disk full, or the reader gone?");
}

/// CLI11 has its own numbers; ours is 2 for whatever is wrong with the command line, and 0 for --help and --version.
int parse_failure(const CLI::App& app, const CLI::ParseError& error, const std::string& first_word) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (error.get_exit_code() == 0 && unknown.empty()) {
    app.exit(error);
    return ended(ExitCode::ok);
  }
  if (app.get_subcommands().empty() && !first_word.empty() && first_word.front() != '-') {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
    const std::vector<std::string> near = attnscope::near_matches(first_word, names);
    if (near.empty())
      return fail(ExitCode::usage,
                  attnscope::format_text("there is no command '{}' (see `attnscope --help`)", first_word));
    return fail(ExitCode::usage,
                attnscope::format_text("there is no command '{}', did you mean {}? (see `attnscope --help`)",
                                       first_word, attnscope::join_or(near)));
  }
  const CLI::App* command = &app;
  std::string path = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  // Where help is asked for, CLI11 looks at nothing else.
  const std::string wrong = error.get_exit_code() == 0 ? CLI::ExtrasError(unknown).what() : error.what();
  return fail(ExitCode::usage, attnscope::format_text("{} (see `{} --help`)", wrong, path));
}

using Commands = std::vector<std::pair<CLI::App*, Action>>;

Commands add_commands(CLI::App& app, const attnscope::Arguments& arguments) {
  Commands commands;
  const auto add = [&](const char* name, const char* description, auto&& setup) {
    CLI::App* command = app.add_subcommand(name, description);
    commands.emplace_back(command, setup(*command));
  };
  add("doctor", "Say what of GPU, driver, compiler and counters is here, and what to do about the rest",
      [](CLI::App& command) { return attnscope::add_doctor(command); });
  add("collect", "Run a sweep on a GPU or the simulated device, into an .attnscope file",
      [&](CLI::App& command) { return attnscope::add_collect(command, arguments); });
  add("verify", "Check every kernel against the float64 oracle on this GPU",
      [](CLI::App& command) { return attnscope::add_verify(command); });
  add("model", "Print what theory says: bytes, geometry and feasibility, without a GPU",
      [](CLI::App& command) { return attnscope::add_model(command); });
  add("ceilings", "Measure what a GPU is capable of: DRAM, L2, shared memory, tensor cores, latencies",
      [](CLI::App& command) { return attnscope::add_ceilings(command); });
  add("kernels", "List the algorithms, or compile their kernels ahead of time",
      [](CLI::App& command) { return attnscope::add_kernels(command); });
  add("launch", "Run one point's kernels bare on this GPU, for profilers that look on",
      [](CLI::App& command) { return attnscope::add_launch(command); });
  add("remote", "Measure for a program on another machine, which asks by ssh",
      [](CLI::App& command) { return attnscope::add_remote(command); });
  add("export", "Write what was collected as CSV or JSON, or joined into one compact file",
      [](CLI::App& command) { return attnscope::add_export(command); });
  add("import", "Add what another program measured, from JSON, CSV or Nsight Compute's table, as a run",
      [&](CLI::App& command) { return attnscope::add_import(command, arguments); });
  add("paper", "Set the preset paper's numbers beside Fig. 2 of the FlashAttention paper",
      [](CLI::App& command) { return attnscope::add_paper(command); });
  add("law", "Hold counted bytes to N^2 d^2 / M: fitted exponents beside 2, 2 and -1, and the closed form's own",
      [](CLI::App& command) { return attnscope::add_law(command); });
  add("gpus", "Set sequences that several GPUs share beside one GPU that has all: what scales, and what links hide",
      [](CLI::App& command) { return attnscope::add_gpus(command); });
  add("lesson", "Write the lesson as a page for any browser, from recorded points",
      [](CLI::App& command) { return attnscope::add_lesson(command); });
  add("compare", "Set two sides of recorded points beside each other: ratios with intervals and verdicts that hold",
      [](CLI::App& command) { return attnscope::add_compare(command); });
  add("ab", "Measure two points in turns until it is decided which is faster",
      [&](CLI::App& command) { return attnscope::add_ab(command, arguments); });
  add("report", "Write what was measured as a report: one HTML page, or Markdown with pictures beside it",
      [](CLI::App& command) { return attnscope::add_report(command); });
  add("info", "Say what an .attnscope file holds", [](CLI::App& command) { return attnscope::add_info(command); });
  add("edit", "Name, tag, note, hide or delete runs of an .attnscope file",
      [](CLI::App& command) { return attnscope::add_edit(command); });
  add("merge", "Join .attnscope files into a new one, runs and parts of runs being what they were",
      [](CLI::App& command) { return attnscope::add_merge(command); });
  add("submit",
      "Queue a sweep on a Slurm cluster, one array task per shard, and a job that merges them: submit OPTIONS "
      "COLLECT-OPTIONS -- SBATCH-OPTIONS",
      [&](CLI::App& command) { return attnscope::add_submit(command, arguments); });
  add("check", "Say whether .attnscope files still are what was written",
      [](CLI::App& command) { return attnscope::add_check(command); });
  add("help", "Print a document: how to install, walks, the reference, explanations, measurements",
      [](CLI::App& command) { return attnscope::add_help(command); });
  return commands;
}

int run(int argc, char** argv) {
  CLI::App app("Shows what attention kernels do to GPU memory, beside what theory says they must do.", "attnscope");
  app.require_subcommand(1);
  app.footer(exit_codes);

  const attnscope::Arguments arguments(argv, static_cast<std::size_t>(argc));
  const Commands commands = add_commands(app, arguments);
  const auto add_common = [](CLI::App& command) {
    command.set_version_flag("--version", "attnscope " + std::string(attnscope::program_version()),
                             "Print the version and exit");
  };
  add_common(app);
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    add_common(*command);
    command->footer(exit_codes);
    for (CLI::App* below : command->get_subcommands(nullptr)) add_common(*below);
    attnscope::refuse_empty_values(*command);
  }

  // What stands behind "--" of submit is another program's.
  const auto ends_our_words = [&](const char* word) {
    return argc > 1 && std::string_view(argv[1]) == "submit" && std::string_view(word) == "--";
  };
  try {
    app.parse(static_cast<int>(std::ranges::find_if(arguments, ends_our_words) - arguments.begin()), argv);
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error, argc > 1 ? argv[1] : "");
  }
  for (const auto& [command, action] : commands) {
    if (!command->parsed()) continue;
    return ended(action());
  }
  return fail(ExitCode::usage, "no command was given (see `attnscope --help`)");
}

/// std::cout on a terminal: CSV and JSON, too, steer none, so all but line breaks and tabs is spelled out. Hands on at
/// once what it gets, as std::cout does, so that lines by stdio stay between those by stream.
class SpelledOut : public std::streambuf {
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

void spell_out_for_a_terminal() {
  if (::isatty(STDOUT_FILENO) == 0) return;
  static SpelledOut& spelled_out = *new SpelledOut;  // outlives the last flush
  std::cout.rdbuf(&spelled_out);
}

}  // namespace

int main(int argc, char** argv) {
  attnscope::occupy_standard_descriptors();
  spell_out_for_a_terminal();
  // A file that hits a size limit is an error to report, not an end without a word.
  std::signal(SIGXFSZ, SIG_IGN);
  spdlog::set_default_logger(spdlog::stderr_color_mt("attnscope"));
  spdlog::set_pattern("%n: %^%l%$: %v");
  try {
    if (const attnscope::Message wrong = attnscope::user::load_inherited_kernels(); !wrong.empty())
      return fail(ExitCode::usage, text(wrong));
    return run(argc, argv);
  } catch (const attnscope::CommandError& error) {
    return fail(error.code(), error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::error, attnscope::explain(error));
  } catch (...) {
    return fail(ExitCode::error, "an error that was not foreseen ended the command; please report it");
  }
}
