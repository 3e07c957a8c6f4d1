// SPDX-License-Identifier: Apache-2.0
// help: the documents of assets/docs and the axes, on stdout.
#include <fmt/format.h>
#include <fmt/ranges.h>

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
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

std::string_view topic_of(const Document& document) {
  return document.file.substr(0, document.file.rfind('.'));
}

/// English ones: those that are translations have a language before their ".md".
std::vector<Document> originals() {
  std::vector<Document> all;
  std::ranges::copy_if(documents(), std::back_inserter(all),
                       [](const Document& each) { return topic_of(each).find('.') == std::string_view::npos; });
  return all;
}

/// Without the licence's line.
std::string_view body_of(const Document& document) {
  return document.text.substr(document.text.find('\n') + 1);
}

/// The first line, without the mark of a heading.
std::string_view title_of(const Document& document) {
  const std::string_view body = body_of(document);
  return body.substr(2, body.find('\n') - 2);
}

constexpr std::string_view axes_topic = "axes";

ExitCode print_axes() {
  std::cout << "# "
            << "Axes: what is measured"
            << "\n\n"
            << "An axis is a name and its values: \"N[pow2]=[8,14]\" (2^8 to 2^14), \"N=[1024:4096:1024]\", "
               "\"mask=[full,causal]\", \"d=64\". `collect`, `model`, `kernels build` and `doctor --noise` take one "
               "behind each -a; `ab` and `launch` take them as they are, of one value each. An axis replaces the "
               "preset's of that name."
            << "\n\n";
  for (const std::string& line : axis_help(known_algorithms())) std::cout << "- " << line << '\n';
  std::cout << '\n'
            << "Masks: full, causal, window:LEFT:RIGHT (keys or inf), lengths:ramp, lengths:300/512, "
               "blocks:SIZE:butterfly, blocks:SIZE:strideK, blocks:SIZE:randomPERCENT, joined by '+'."
            << '\n';
  return ExitCode::ok;
}

ExitCode print_topics() {
  const auto print = [](std::string_view topic, std::string_view title) {
    std::cout << fmt::format("{:<14}{}\n", topic, title);
  };
  for (const Document& document : originals()) print(topic_of(document), title_of(document));
  print(axes_topic, "Axes: what is measured");
  return ExitCode::ok;
}

std::vector<std::string> topics() {
  std::vector<std::string> topics;
  for (const Document& document : originals()) topics.emplace_back(topic_of(document));
  topics.emplace_back(axes_topic);
  return topics;
}

ExitCode print_document(const std::string& topic) {
  if (topic == axes_topic) return print_axes();
  const std::vector<Document> all = originals();
  const auto found = std::ranges::find(all, topic, topic_of);
  if (found == all.end()) {
    throw CommandError(ExitCode::usage,
                       "there is no document '{}', only {} (options of a command: `attnscope COMMAND --help`)", topic,
                       join_or(topics()));
  }
  std::cout << body_of(*found);
  return ExitCode::ok;
}

}  // namespace

Action add_help(CLI::App& command) {
  const auto topic = std::make_shared<std::string>();
  command.add_option("TOPIC", *topic, "The document, in Markdown (default: a list of them)")
      ->type_name(fmt::format("{{{}}}", fmt::join(topics(), ",")));
  return [topic] { return topic->empty() ? print_topics() : print_document(*topic); };
}

}  // namespace attnscope
