// SPDX-License-Identifier: Apache-2.0
// help: the documents of assets/docs on stdout.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/documents.h"
#include "messages/command.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

std::string_view topic_of(const Document& document) {
  return document.file.substr(0, document.file.rfind('.'));
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

ExitCode print_topics() {
  for (const Document& document : documents()) {
    std::cout << fmt::format("{:<14}{}\n", topic_of(document), title_of(document));
  }
  return ExitCode::ok;
}

ExitCode print_document(const std::string& topic) {
  const auto found = std::ranges::find(documents(), topic, topic_of);
  if (found == documents().end()) {
    std::vector<std::string> topics;
    for (const Document& document : documents()) topics.emplace_back(topic_of(document));
    throw CommandError(ExitCode::usage, say::command::unknown_document{.topic = topic, .topics = join_or(topics)});
  }
  std::cout << body_of(*found);
  return ExitCode::ok;
}

}  // namespace

Action add_help(CLI::App& command) {
  const auto topic = std::make_shared<std::string>();
  command.add_option("TOPIC", *topic, "The document, in Markdown (default: a list of them)");
  return [topic] { return topic->empty() ? print_topics() : print_document(*topic); };
}

}  // namespace attnscope
