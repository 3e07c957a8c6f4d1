// SPDX-License-Identifier: Apache-2.0
// Entry point of the command line program. Results go to stdout, everything else to stderr.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/program.h"
#include "app/python/python_kernels.h"
#include "kernels/user/known_kernels.h"
#include "profiler/measure/device.h"
#include "profiler/plan/text.h"

namespace {

using attnscope::Action;
using attnscope::ExitCode;
using attnscope::make_message;
using attnscope::Message;
using attnscope::text;

constexpr std::size_t line_width = 88;
constexpr std::size_t description_column = 26;

constexpr std::string_view exit_codes =
    "Exit codes:\n"
    "  0  success\n"
    "  1  runtime error, such as a missing file\n"
    "  2  invalid command line\n"
    "  3  hardware counters are required and not available\n"
    "  4  regression found by compare --fail-on-regression\n"
    "  5  incomplete: cancelled, or some points or rows failed";

struct CommandHelp {
  std::string_view command;
  std::string_view summary;  ///< one sentence
  std::array<std::string_view, 2> examples;
};

constexpr auto commands = std::to_array<CommandHelp>({
    {"attnscope",
     "Measure the memory traffic of attention kernels on a GPU and compare it with theory.",
     {"attnscope collect --preset quick -o quick.attnscope", "attnscope report quick.attnscope -o quick.html"}},
    {"attnscope doctor",
     "Check the GPU, driver, compiler and counters, and suggest fixes.",
     {"attnscope doctor", "attnscope doctor --noise -o noise.attnscope"}},
    {"attnscope collect",
     "Measure a sweep on a GPU or a simulated GPU and store it in an .attnscope file.",
     {"attnscope collect --preset quick -o quick.attnscope",
      "attnscope collect -a \"N=[1024,2048]\" -a d=128 --device simulated -o sweep.attnscope"}},
    {"attnscope verify",
     "Check the outputs of every kernel against a float64 reference on a GPU.",
     {"attnscope verify --quick", "attnscope verify --algorithms fa2,fa3 -o verify.csv"}},
    {"attnscope model",
     "Print modeled bytes, occupancy and predicted times of a sweep without a GPU.",
     {"attnscope model -a \"N=[1024,4096]\" -a d=128 --algorithms naive,fa2",
      "attnscope model --gpu A100 -a N=4096 -a d=64 --algorithms fa2 -o model.csv"}},
    {"attnscope ceilings",
     "Measure bandwidth, throughput and latency limits of a GPU, or show stored ones.",
     {"attnscope ceilings -o ceilings.attnscope", "attnscope ceilings --device simulated"}},
    {"attnscope kernels",
     "List the algorithms, compile their kernels, or create a user-defined kernel.",
     {"attnscope kernels", "attnscope kernels --format json"}},
    {"attnscope kernels build",
     "Compile the kernels of a sweep into the cache; needs no GPU.",
     {"attnscope kernels build --preset quick --arch sm_90a",
      "attnscope kernels build -a N=4096 -a d=128 --algorithms fa2 --arch sm_80"}},
    {"attnscope kernels new",
     "Create a folder with a working user-defined kernel and its manifest.",
     {"attnscope kernels new my-kernel", "attnscope kernels new my-kernel --library -o experiments"}},
    {"attnscope launch",
     "Launch the kernels of one point on a GPU, for use under a profiler.",
     {"attnscope launch algorithm=fa2 N=4096 d=128",
      "ncu -k regex:attn_fa2 attnscope launch algorithm=fa2 N=4096 d=128 --repeat 1"}},
    {"attnscope worker",
     "Measure points for a supervisor that sends requests on stdin; started by collect.",
     {"attnscope worker --device 0", "ssh gpubox attnscope worker --device gpu"}},
    {"attnscope export",
     "Export recorded points as CSV or JSON, or copy runs into one compact file.",
     {"attnscope export quick.attnscope -o points.csv",
      "attnscope export quick.attnscope sweep.attnscope -o all.attnscope"}},
    {"attnscope import",
     "Import measurements of other programs from JSON, CSV or Nsight Compute tables.",
     {"attnscope import points.csv -o imported.attnscope",
      "attnscope import ncu.csv --algorithm mine -a N=4096 -a d=128 --preview"}},
    {"attnscope paper",
     "Compare runs of the preset `paper` with Fig. 2 of the FlashAttention paper.",
     {"attnscope paper", "attnscope paper -o paper.csv"}},
    {"attnscope law",
     "Fit how counted bytes grow with N, d and M, and compare with each algorithm's law.",
     {"attnscope law", "attnscope law --filter algo:fa2 -o law.json"}},
    {"attnscope scaling",
     "Compare sequences shared by several GPUs with one GPU: efficiency and exposed copies.",
     {"attnscope scaling gpus.attnscope", "attnscope scaling gpus.attnscope -o scaling.csv"}},
    {"attnscope lesson",
     "Write the lesson, homework or the lecturer's plan as HTML, and grade homework.",
     {"attnscope lesson export -o lesson", "attnscope lesson export --lang zh -o lesson-zh"}},
    {"attnscope lesson export",
     "Write the lesson as self-contained HTML pages, one per language.",
     {"attnscope lesson export -o lesson", "attnscope lesson export --lang zh -o lesson-zh"}},
    {"attnscope lesson homework",
     "Write a page of questions and claims without answers, with a code to hand in.",
     {"attnscope lesson homework --seed 17 -o homework-17.html",
      "attnscope lesson homework --seed 18 --lang zh -o homework-18.html"}},
    {"attnscope lesson grade",
     "Grade hand-in codes of homework, or show the key.",
     {"attnscope lesson grade --seed 17", "attnscope lesson grade --seed 17 --csv -o key.csv"}},
    {"attnscope lesson plan",
     "Write the lecturer's plan of 45 minutes as a printable page.",
     {"attnscope lesson plan -o plan.html", "attnscope lesson plan --lang zh -o plan.html"}},
    {"attnscope lesson texts",
     "Write all texts of the lesson as JSON files for editing.",
     {"attnscope lesson texts -o my-texts", "attnscope lesson texts -o my-texts --force"}},
    {"attnscope compare",
     "Compare recorded points of a baseline and a candidate, with confidence intervals.",
     {"attnscope compare before.attnscope --candidate after.attnscope --fail-on-regression 5%",
      "attnscope compare quick.attnscope:algo:fa1 --candidate quick.attnscope:algo:fa2"}},
    {"attnscope ab",
     "Measure two points, or two builds, in interleaved rounds until the verdict is clear.",
     {"attnscope ab N=1024 d=128 --baseline algorithm=fa1 --candidate algorithm=fa2",
      "attnscope ab --baseline-program ./attnscope-old --preset quick -o builds.attnscope"}},
    {"attnscope report",
     "Write a report of recorded points as HTML or Markdown.",
     {"attnscope report quick.attnscope -o quick.html",
      "attnscope report quick.attnscope sweep.attnscope --title \"Two sweeps\" -o sweeps.md"}},
    {"attnscope info",
     "Show the runs, devices and ceilings in an .attnscope file.",
     {"attnscope info quick.attnscope", "attnscope info quick.attnscope --filter algo:fa2 --format json"}},
    {"attnscope edit",
     "Name, tag, annotate, hide or delete runs of an .attnscope file.",
     {"attnscope edit quick.attnscope --run 1 --name baseline --tag h200", "attnscope edit quick.attnscope --list"}},
    {"attnscope merge",
     "Merge .attnscope files and shards into a new file.",
     {"attnscope merge quick.attnscope sweep.attnscope -o merged.attnscope",
      "attnscope merge shards/*.attnscope -o whole.attnscope --skip-damaged"}},
    {"attnscope submit",
     "Queue a sweep as a Slurm job array, with options of collect and, after --, of sbatch.",
     {"attnscope submit --shards 2 -o wall.attnscope --preset quick --dry-run",
      "attnscope submit --shards 8 -o wall.attnscope --preset memory-wall -- --gres=gpu:1"}},
    {"attnscope check",
     "Verify the checksums of .attnscope files.",
     {"attnscope check quick.attnscope", "attnscope check quick.attnscope sweep.attnscope --format json"}},
    {"attnscope help",
     "Print a document: installation, tutorial, reference, axes, presets.",
     {"attnscope help reference", "attnscope help axes"}},
});

const CommandHelp& help_of(const CLI::App& command) {
  const auto* const found = std::ranges::find(commands, attnscope::path_of(command), &CommandHelp::command);
  if (found == commands.end()) throw std::logic_error("no help for command " + command.get_name());
  return *found;
}

/// Breaks lines of more than `width` columns at spaces; line breaks in `text` are kept.
std::string wrap_text(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    }
    if (column > 0) out += ' ';
    column += (column > 0 ? 1 : 0) + word.size();
    out += word;
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// Prints the summary and the examples first, wraps lines, and omits ranges and relations between options.
class HelpLayout : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* command) const override {
    const CommandHelp& help = help_of(*command);
    std::string text = fmt::format("{}\n\nExamples:\n", help.summary);
    for (const std::string_view example : help.examples) text += fmt::format("  {}\n", example);
    return text + "\n";
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string text = make_option_desc(option);
    if (const std::string value = option->get_default_str(); !value.empty())
      text += fmt::format(" (default: {})", value);
    if (option->get_required()) text += " (required)";
    return row(make_option_name(option, is_positional) + make_option_opts(option), text);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    const bool repeated = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    if (option->get_positional()) return repeated ? "..." : "";
    return " " + value_name(option->get_type_name()) + (repeated ? "..." : "");
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return row(command->get_name(), command->get_description());
  }

 private:
  /// CLI11 appends the checks: "FORMAT:{text,csv}" becomes "{text,csv}", "INT:INT in [1 - 9]" becomes "N".
  static std::string value_name(const std::string& type) {
    if (const std::size_t names = type.find('{'); names != std::string::npos) return type.substr(names);
    const std::string name = type.substr(0, type.find(':'));
    return name == "INT" || name == "UINT" || name == "FLOAT" ? "N" : name == "TEXT" ? "VALUE" : name;
  }
  static std::string row(const std::string& name, const std::string& text) {
    const std::string lines = wrap_text(text, line_width - description_column);
    std::string out = "  " + name;
    if (out.size() + 2 > description_column) out += "\n";
    std::size_t at = 0;
    while (at <= lines.size()) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      const std::size_t begun = out.size() - (out.rfind('\n') + 1);
      out += std::string(description_column - std::min(begun, description_column), ' ') + lines.substr(at, end - at);
      out += '\n';
      at = end + 1;
    }
    return out;
  }
};

/// Sets description, layout and exit codes of a command and of all commands below it.
void add_help(CLI::App& command, const std::shared_ptr<HelpLayout>& layout) {
  command.description(std::string(help_of(command).summary));
  command.formatter(layout);
  command.footer(std::string(exit_codes));
  for (CLI::App* each : command.get_subcommands(nullptr)) add_help(*each, layout);
}

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

/// "NAME: VALUE not in {a,b}"
Message invalid_value(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return Message::verbatim(std::string(text));
  const std::string_view name = text.substr(0, colon);
  const std::string_view why = text.substr(colon + 2);
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
  return fail(ExitCode::usage, attnscope::format_text("{} (see `{} --help`)", reason, attnscope::path_of(command)));
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
  add_help(app, std::make_shared<HelpLayout>());

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
