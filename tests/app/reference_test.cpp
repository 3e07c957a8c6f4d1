// SPDX-License-Identifier: Apache-2.0
// The command `help`, and whether assets/docs/reference.md is up to date: from "## Commands" on it is
// generated from the help of every command and from tables of the program. ATTNSCOPE_WRITE_REFERENCE=1 updates it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "help_examples.h"
#include "kernels/model/ceilings.h"
#include "kernels/model/gpu_values.h"
#include "kernels/registry.h"
#include "kernels/user/user_kernel.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/presets.h"
#include "sweeps.h"
#include "tests/temporary_folder.h"

namespace attnscope::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using HelpCommand = CommandTest;

const fs::path documents = ATTNSCOPE_DOCUMENTS;
const std::vector<std::string> topics{"install",   "tutorial", "own-kernel",  "python",
                                      "reference", "glossary", "explanation", "measurements"};

/// One entry of a section of a command's help.
struct Entry {
  std::string name;
  std::string meaning;
};

/// The entries below "SECTION:". A description starts in column 26, or on the next line after a long name.
std::vector<Entry> section(const std::string& help, const std::string& title) {
  constexpr std::size_t column = 26;
  std::vector<Entry> entries;
  const std::size_t begin = help.find("\n" + title + ":\n");
  if (begin == std::string::npos) return entries;
  std::istringstream text(help.substr(begin + title.size() + 3));
  for (std::string line; std::getline(text, line) && !line.empty();) {
    const std::size_t indent = line.find_first_not_of(' ');
    const bool both = line.size() > column && line.substr(column - 2, 2) == "  ";
    if (indent == 2) {
      std::string name = line.substr(2, both ? column - 2 : std::string::npos);
      name.erase(name.find_last_not_of(' ') + 1);
      entries.push_back({.name = "`" + name + "`", .meaning = both ? line.substr(column) : ""});
    } else if (indent == column && !entries.empty()) {
      std::string& meaning = entries.back().meaning;
      meaning += (meaning.empty() ? "" : " ") + line.substr(column);
    }
  }
  for (Entry& entry : entries) {  // presets have their own table
    entry.meaning = entry.meaning.substr(0, entry.meaning.find(": quick: "));
  }
  return entries;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '*' || c == '|') out += '\\';
    out += c;
  }
  return out;
}

/// Reference of all commands, each after its parent.
class CommandsText {
 public:
  std::string text() {
    add({});
    return text_;
  }

 private:
  void add(const std::vector<std::string>& path) {
    std::vector<std::string> arguments = path;
    arguments.emplace_back("--help");
    const std::string help = run(folder_, arguments).out;
    if (!path.empty()) describe(fmt::format("attnscope {}", fmt::join(path, " ")), help);
    for (const Entry& command : section(help, "Subcommands")) {
      std::vector<std::string> below = path;
      below.push_back(command.name.substr(1, command.name.size() - 2));
      add(below);
    }
  }
  void describe(const std::string& command, const std::string& help) {
    text_ += fmt::format("\n### {}\n\n{}\n\n```sh\n", command, help.substr(0, help.find('\n')));
    for (const std::string& example : distinct_rows(help)) text_ += example + "\n";
    text_ += "```\n\n";
    for (const char* title : {"Positionals", "Options"}) {
      for (const Entry& entry : section(help, title)) {
        const bool common = entry.name.find("--help") != std::string::npos || entry.name == "`--version`" ||
                            entry.meaning.starts_with("Language of messages");
        if (!common) add_entry(command, entry);
      }
    }
  }
  /// Refers to an earlier command instead of repeating a long description.
  void add_entry(const std::string& command, const Entry& entry) {
    constexpr std::size_t worth_a_pointer = 120;
    std::string meaning = entry.meaning;
    if (const auto [said, is_new] = said_.emplace(meaning, command); !is_new && meaning.size() > worth_a_pointer) {
      meaning = fmt::format("see `{}`", said->second);
    }
    text_ += fmt::format("- {}: {}\n", entry.name, escaped(meaning));
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> said_;  ///< first command with a description
  std::string text_ = "## Commands\n\nEvery command also takes `--help` and `--version`.\n";
};

std::string row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += " " + escaped(cell) + " |";
  }
  return line + "\n";
}

std::string head(const std::string& title, const std::vector<std::string>& columns) {
  return fmt::format("\n## {}\n\n", title) + row(columns) + row(std::vector<std::string>(columns.size(), "---"));
}

std::string fields_text() {
  std::string out = head("Fields of a point", {"field", "label", "description", "values", "default"});
  for (const Field& field : point_fields()) {
    const std::string_view fallback = field.fallback.empty() ? field.sweep_default : field.fallback;
    out +=
        row({fmt::format("`{}`", field.name), attnscope::text(field.label()), attnscope::text(field.help()),
             field.largest == 0 ? "" : fmt::format("{} to {}", field.smallest, field.largest), std::string(fallback)});
  }
  return out;
}

std::string algorithms_text() {
  const Registry& registry = built_in_algorithms();
  std::string out = head("Algorithms", {"name", "title", "effect of the tile", "knobs", "source"});
  for (const Algorithm* algorithm : registry.algorithms()) {
    const Facts& facts = algorithm->facts();
    std::vector<std::string> knobs;
    for (const Knob& knob : facts.knobs) knobs.push_back(knob.name);
    out += row({fmt::format("`{}`", facts.name), facts.title, attnscope::text(facts.tile_meaning),
                fmt::format("{}", fmt::join(knobs, ", ")), facts.source});
  }
  out += head("Knobs", {"knob", "label", "description", "values"});
  for (const Knob& knob : registry.knobs()) {
    out += row({fmt::format("`{}`", knob.name), attnscope::text(knob.label), attnscope::text(knob.meaning),
                knob.words.empty() ? fmt::format("0 (chosen by the algorithm) to {}", knob.largest)
                                   : fmt::format("{}", fmt::join(knob.words, ", "))});
  }
  return out;
}

std::string presets_text() {
  std::string out = head("Presets", {"preset", "description"});
  for (const Preset& preset : presets()) {
    out += row({fmt::format("`{}`", preset.name), attnscope::text(preset.description)});
  }
  return out;
}

std::string metrics_text() {
  std::string out = head("Metrics", {"key", "label", "unit", "Nsight Compute metric", "collected", "description"});
  for (const Metric& metric : metrics_table()) {
    const bool counter = !metric.counter.empty();
    out += row({fmt::format("`{}`", metric.key), attnscope::text(metric.label()), std::string(metric.unit),
                counter ? fmt::format("`{}`", metric.counter) : "",
                metric.collected_by_default                   ? "always"
                : metric.why != CounterGroup::none && counter ? "`--utilization`"
                                                              : "",
                metric.help == nullptr ? "" : attnscope::text(metric.help())});
  }
  return out;
}

std::string devices_text() {
  std::string out = head(
      "Simulated GPUs", {"name", "compute capability", "SMs", "shared memory per block, KiB", "L2, MiB", "DRAM, GB/s"});
  for (const DeviceLimits& gpu : known_gpus()) {
    out += row({gpu.name, fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor), std::to_string(gpu.sm_count),
                fmt::format("{}", gpu.shared_bytes_per_block / 1024), fmt::format("{}", gpu.l2_bytes / 1048576),
                fmt::format("{:.0f}", gpu.dram_bytes_per_second / 1e9)});
  }
  out += head("Values of a hypothetical GPU", {"key in --gpu FILE.json", "unit", "range", "description"});
  for (const GpuValue& value : gpu_values()) {
    out += row({fmt::format("`{}`", value.key), std::string(value.unit),
                fmt::format("{:.10g} to {:.10g}", value.least, value.most), std::string(value.help)});
  }
  out += head("Ceilings", {"key", "label", "unit", "in datasheet"});
  for (const CeilingKind& kind : ceiling_kinds()) {
    out += row({fmt::format("`{}`", kind.key), attnscope::text(kind.label()), std::string(kind.unit),
                kind.datasheet != nullptr ? "yes" : ""});
  }
  return out;
}

TEST(Reference, IsUpToDate) {
  const std::string made =
      CommandsText().text() + fields_text() + algorithms_text() + presets_text() + metrics_text() + devices_text();
  const fs::path file = documents / "reference.md";
  const std::string now = content(file);
  const std::size_t generated = now.find("## Commands\n");
  ASSERT_NE(generated, std::string::npos);
  if (std::getenv("ATTNSCOPE_WRITE_REFERENCE") != nullptr) {
    std::ofstream(file) << now.substr(0, generated) + made;
    return;
  }
  std::istringstream is(now.substr(generated));
  std::istringstream wanted(made);
  std::string is_line;
  std::string wanted_line;
  while (std::getline(wanted, wanted_line)) {
    std::getline(is, is_line);
    ASSERT_EQ(is_line, wanted_line) << "assets/docs/reference.md is stale: update it with "
                                       "ATTNSCOPE_WRITE_REFERENCE=1 and --gtest_filter=Reference.*";
  }
  EXPECT_FALSE(std::getline(is, is_line)) << is_line;
}

TEST_F(HelpCommand, PrintsEveryDocument) {
  const Outcome list = expect_exit(0, run(folder_, {"help"}));
  std::size_t at = 0;
  for (const std::string& topic : topics) {
    const std::string text = content(documents / (topic + ".md"));
    ASSERT_THAT(text, StartsWith("<!-- SPDX-License-Identifier: Apache-2.0 -->\n# ")) << topic;
    const std::string body = text.substr(text.find('\n') + 1);
    const Outcome printed = expect_exit(0, run(folder_, {"help", topic}));
    EXPECT_TRUE(printed.out == body) << topic << " differs from assets/docs";
    const std::string line = fmt::format("{:<14}{}\n", topic, body.substr(2, body.find('\n') - 2));
    EXPECT_EQ(list.out.substr(at, line.size()), line);
    at += line.size();
  }
  EXPECT_THAT(list.out.substr(at), AllOf(StartsWith("axes "), HasSubstr("\npresets ")));
}

TEST_F(HelpCommand, SuggestsTopics) {
  const Outcome outcome = expect_exit(2, run(folder_, {"help", "instal"}));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("'instal'"), HasSubstr("install?")));
}

TEST_F(HelpCommand, ListsEveryPreset) {
  const std::string list = run(folder_, {"help", "presets"}).out;
  for (const Preset& preset : presets()) EXPECT_THAT(list, HasSubstr(fmt::format("- {}: ", preset.name)));
}

TEST_F(HelpCommand, ListsEveryAxis) {
  const std::string axes = run(folder_, {"help", "axes"}).out;
  for (const Field& field : point_fields()) EXPECT_THAT(axes, HasSubstr(std::string(field.name))) << field.name;
  for (const Knob& knob : built_in_algorithms().knobs()) EXPECT_THAT(axes, HasSubstr("- " + knob.name + ": "));
  EXPECT_THAT(axes, AllOf(HasSubstr("blocks:SIZE:butterfly"), HasSubstr("N[pow2]=[8,14]")));
  for (const char* command : {"collect", "model", "ab", "launch", "doctor"}) {
    EXPECT_THAT(run(folder_, {command, "--help"}).out,
                AllOf(HasSubstr("attnscope help axes"), Not(HasSubstr("butterfly")), Not(HasSubstr("element type"))));
  }
}

/// Returns all complete JSON objects in the document.
std::vector<std::string> statements() {
  const std::string document = content(std::filesystem::path(ATTNSCOPE_DOCUMENTS) / "own-kernel.md");
  const std::string begin = "```json\n";
  std::vector<std::string> all;
  for (std::size_t at = document.find(begin); at != std::string::npos; at = document.find(begin, at)) {
    at += begin.size();
    if (document[at] == '{') all.push_back(document.substr(at, document.find("```", at) - at));
  }
  return all;
}

TEST(UserKernelDocument, ManifestsHaveLaunchesAndALaw) {
  const TemporaryFolder folder;
  std::ofstream(folder / "my-kernel.cu") << "\n";
  const DeviceLimits gpu = *find_gpu("h100");
  const AttentionProblem problem{.batch = 2, .heads_q = 4, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 64};
  std::vector<std::size_t> launches;
  for (const std::string& text : statements()) {
    const std::filesystem::path file = folder / "own.json";
    std::ofstream(file) << text;
    const auto kernel = user::load_kernel(file);
    ASSERT_TRUE(kernel) << kernel.error();
    const Config config = (*kernel)->default_config(problem, gpu);
    const auto refusal = (*kernel)->refusal(problem, config, gpu);
    ASSERT_FALSE(refusal) << refusal->reason;
    EXPECT_TRUE((*kernel)->facts().reports_traffic);
    EXPECT_GT((*kernel)->model(problem, config, gpu).traffic().l2_to_sm_bytes, 0);
    launches.push_back((*kernel)->plan(problem, config, gpu).launches.size());
  }
  EXPECT_EQ(launches, (std::vector<std::size_t>{1}));
}

}  // namespace
}  // namespace attnscope::testing
