// SPDX-License-Identifier: Apache-2.0
// help: prints the documents of assets/docs, the axes and the presets.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/documents.h"
#include "kernels/registry.h"
#include "profiler/plan/axes.h"
#include "profiler/plan/presets.h"

namespace attnscope {
namespace {

std::string_view topic_of(const Document& document) {
  return document.file.substr(0, document.file.rfind('.'));
}

/// Documents in English; translations have a language before ".md".
std::vector<Document> originals() {
  std::vector<Document> all;
  std::ranges::copy_if(documents(), std::back_inserter(all),
                       [](const Document& each) { return topic_of(each).find('.') == std::string_view::npos; });
  return all;
}

std::string_view body_of(const Document& document) {
  return document.text.substr(document.text.find('\n') + 1);
}

/// Returns the title: the first line without "# ".
std::string_view title_of(const Document& document) {
  const std::string_view body = body_of(document);
  return body.substr(2, body.find('\n') - 2);
}

constexpr std::string_view axes_topic = "axes";

ExitCode print_axes() {
  std::cout << "# "
            << "Axes of a sweep"
            << "\n\n"
            << "An axis is a field with its values: d=64, \"mask=[full,causal]\", \"N=[1024:4096:1024]\" "
               "(first:last:step), \"N[pow2]=[8,14]\" (2^8 to 2^14).\n"
               "`collect`, `model`, `kernels build` and `doctor --noise` take axes with -a; an axis replaces the "
               "preset's axis of that name.\n"
               "`ab` and `launch` take axes as arguments, with one value each."
            << "\n\n";
  for (const std::string& line : axis_help(known_algorithms())) std::cout << "- " << line << '\n';
  std::cout << '\n'
            << "Masks: full, causal, window:LEFT:RIGHT (keys or inf), lengths:ramp, lengths:300/512, "
               "blocks:SIZE:butterfly, blocks:SIZE:strideK, blocks:SIZE:randomPERCENT, joined by '+'."
            << '\n';
  return ExitCode::ok;
}

constexpr std::string_view presets_topic = "presets";

ExitCode print_presets() {
  std::cout << "# Presets: named sweeps\n\n";
  for (const Preset& preset : presets()) std::cout << fmt::format("- {}: {}\n", preset.name, text(preset.description));
  return ExitCode::ok;
}

ExitCode print_topics() {
  const auto print = [](std::string_view topic, std::string_view title) {
    std::cout << fmt::format("{:<14}{}\n", topic, title);
  };
  for (const Document& document : originals()) print(topic_of(document), title_of(document));
  print(axes_topic, "Axes of a sweep");
  print(presets_topic, "Presets: named sweeps");
  return ExitCode::ok;
}

ExitCode print_document(const std::string& topic) {
  if (topic == axes_topic) return print_axes();
  if (topic == presets_topic) return print_presets();
  const std::vector<Document> all = originals();
  const auto found = std::ranges::find(all, topic, topic_of);
  if (found == all.end()) {
    std::vector<std::string> known;
    known.reserve(all.size() + 2);
    for (const Document& document : all) known.emplace_back(topic_of(document));
    known.insert(known.end(), {std::string(axes_topic), std::string(presets_topic)});
    throw CommandError(ExitCode::usage, "{} (for a command's options: `attnscope COMMAND --help`)",
                       unknown_name_message("topic", topic, known));
  }
  std::cout << body_of(*found);
  return ExitCode::ok;
}

}  // namespace

Action add_help(CLI::App& command) {
  const auto topic = std::make_shared<std::string>();
  command.add_option("TOPIC", *topic, "Topic (default: list of topics)")->type_name("TOPIC");
  return [topic] { return topic->empty() ? print_topics() : print_document(*topic); };
}

}  // namespace attnscope
