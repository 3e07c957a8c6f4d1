// SPDX-License-Identifier: Apache-2.0
#include "app/command_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

namespace attnscope {
namespace {

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
  std::string_view command;  ///< name as in "kernels build"; empty for the program
  std::string_view summary;  ///< one sentence
  std::array<std::string_view, 2> examples;
};

constexpr auto commands = std::to_array<CommandHelp>({
    {"",
     "Measure the memory traffic of attention kernels on a GPU and compare it with theory.",
     {"attnscope collect --preset quick -o quick.attnscope", "attnscope report quick.attnscope -o quick.html"}},
    {"doctor",
     "Check the GPU, driver, compiler and counters, and suggest fixes.",
     {"attnscope doctor", "attnscope doctor --noise -o noise.attnscope"}},
    {"collect",
     "Measure a sweep on a GPU or a simulated GPU and store it in an .attnscope file.",
     {"attnscope collect --preset quick -o quick.attnscope",
      "attnscope collect -a \"N=[1024,2048]\" -a d=128 --device simulated -o sweep.attnscope"}},
    {"verify",
     "Check the outputs of every kernel against a float64 reference on a GPU.",
     {"attnscope verify --quick", "attnscope verify --algorithms fa2,fa3 -o verify.csv"}},
    {"model",
     "Print modeled bytes, occupancy and predicted times of a sweep without a GPU.",
     {"attnscope model -a \"N=[1024,4096]\" -a d=128 --algorithms naive,fa2",
      "attnscope model --gpu A100 -a N=4096 -a d=64 --algorithms fa2 -o model.csv"}},
    {"ceilings",
     "Measure bandwidth, throughput and latency limits of a GPU, or show stored ones.",
     {"attnscope ceilings -o ceilings.attnscope", "attnscope ceilings --device simulated"}},
    {"kernels",
     "List the algorithms, compile their kernels, or create a user-defined kernel.",
     {"attnscope kernels", "attnscope kernels --format json"}},
    {"kernels build",
     "Compile the kernels of a sweep into the cache; needs no GPU.",
     {"attnscope kernels build --preset quick --arch sm_90a",
      "attnscope kernels build -a N=4096 -a d=128 --algorithms fa2 --arch sm_80"}},
    {"kernels new",
     "Create a folder with a working user-defined kernel and its manifest.",
     {"attnscope kernels new my-kernel", "attnscope kernels new my-kernel --library -o experiments"}},
    {"launch",
     "Launch the kernels of one point on a GPU, for use under a profiler.",
     {"attnscope launch algorithm=fa2 N=4096 d=128",
      "ncu -k regex:attn_fa2 attnscope launch algorithm=fa2 N=4096 d=128 --repeat 1"}},
    {"worker",
     "Measure points for a supervisor that sends requests on stdin; started by collect.",
     {"attnscope worker --device 0", "ssh gpubox attnscope worker --device gpu"}},
    {"export",
     "Export recorded points as CSV or JSON, or copy runs into one compact file.",
     {"attnscope export quick.attnscope -o points.csv",
      "attnscope export quick.attnscope sweep.attnscope -o all.attnscope"}},
    {"import",
     "Import measurements of other programs from JSON, CSV or Nsight Compute tables.",
     {"attnscope import points.csv -o imported.attnscope",
      "attnscope import ncu.csv --algorithm mine -a N=4096 -a d=128 --preview"}},
    {"paper",
     "Compare runs of the preset `paper` with Fig. 2 of the FlashAttention paper.",
     {"attnscope paper", "attnscope paper -o paper.csv"}},
    {"law",
     "Fit how counted bytes grow with N, d and M, and compare with each algorithm's law.",
     {"attnscope law", "attnscope law --filter algo:fa2 -o law.json"}},
    {"scaling",
     "Compare sequences shared by several GPUs with one GPU: efficiency and exposed copies.",
     {"attnscope scaling gpus.attnscope", "attnscope scaling gpus.attnscope -o scaling.csv"}},
    {"lesson",
     "Write the lesson, homework or the lecturer's plan as HTML, and grade homework.",
     {"attnscope lesson export -o lesson", "attnscope lesson export --lang zh -o lesson-zh"}},
    {"lesson export",
     "Write the lesson as self-contained HTML pages, one per language.",
     {"attnscope lesson export -o lesson", "attnscope lesson export --lang zh -o lesson-zh"}},
    {"lesson homework",
     "Write a page of questions and claims without answers, with a code to hand in.",
     {"attnscope lesson homework --seed 17 -o homework-17.html",
      "attnscope lesson homework --seed 18 --lang zh -o homework-18.html"}},
    {"lesson grade",
     "Grade hand-in codes of homework, or show the key.",
     {"attnscope lesson grade --seed 17", "attnscope lesson grade --seed 17 --csv -o key.csv"}},
    {"lesson plan",
     "Write the lecturer's plan of 45 minutes as a printable page.",
     {"attnscope lesson plan -o plan.html", "attnscope lesson plan --lang zh -o plan.html"}},
    {"lesson texts",
     "Write all texts of the lesson as JSON files for editing.",
     {"attnscope lesson texts -o my-texts", "attnscope lesson texts -o my-texts --force"}},
    {"compare",
     "Compare recorded points of a baseline and a candidate, with confidence intervals.",
     {"attnscope compare before.attnscope --candidate after.attnscope --fail-on-regression 5%",
      "attnscope compare quick.attnscope:algo:fa1 --candidate quick.attnscope:algo:fa2"}},
    {"ab",
     "Measure two points, or two builds, in interleaved rounds until the verdict is clear.",
     {"attnscope ab N=1024 d=128 --baseline algorithm=fa1 --candidate algorithm=fa2",
      "attnscope ab --baseline-program ./attnscope-old --preset quick -o builds.attnscope"}},
    {"report",
     "Write a report of recorded points as HTML or Markdown.",
     {"attnscope report quick.attnscope -o quick.html",
      "attnscope report quick.attnscope sweep.attnscope --title \"Two sweeps\" -o sweeps.md"}},
    {"info",
     "Show the runs, devices and ceilings in an .attnscope file.",
     {"attnscope info quick.attnscope", "attnscope info quick.attnscope --filter algo:fa2 --format json"}},
    {"edit",
     "Name, tag, annotate, hide or delete runs of an .attnscope file.",
     {"attnscope edit quick.attnscope --run 1 --name baseline --tag h200", "attnscope edit quick.attnscope --list"}},
    {"merge",
     "Merge .attnscope files and shards into a new file.",
     {"attnscope merge quick.attnscope sweep.attnscope -o merged.attnscope",
      "attnscope merge shards/*.attnscope -o whole.attnscope --skip-damaged"}},
    {"submit",
     "Queue a sweep as a Slurm job array, with options of collect and, after --, of sbatch.",
     {"attnscope submit --shards 2 -o wall.attnscope --preset quick --dry-run",
      "attnscope submit --shards 8 -o wall.attnscope --preset memory-wall -- --gres=gpu:1"}},
    {"check",
     "Verify the checksums of .attnscope files.",
     {"attnscope check quick.attnscope", "attnscope check quick.attnscope sweep.attnscope --format json"}},
    {"help",
     "Print a document: installation, tutorial, reference, axes, presets.",
     {"attnscope help reference", "attnscope help axes"}},
});

/// "kernels build"; empty for the program.
std::string help_key(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr) return {};
  const std::string before = help_key(*parent);
  return before.empty() ? command.get_name() : before + " " + command.get_name();
}

const CommandHelp& help_of(const CLI::App& command) {
  const auto* const found = std::ranges::find(commands, help_key(command), &CommandHelp::command);
  if (found == commands.end()) throw std::logic_error("no help for command " + help_key(command));
  return *found;
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

void add_help_below(CLI::App& command, const std::shared_ptr<HelpLayout>& layout) {
  command.description(std::string(help_of(command).summary));
  command.formatter(layout);
  command.footer(std::string(exit_codes));
  for (CLI::App* each : command.get_subcommands(nullptr)) add_help_below(*each, layout);
}

}  // namespace

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

void add_command_help(CLI::App& program) {
  add_help_below(program, std::make_shared<HelpLayout>());
}

}  // namespace attnscope
