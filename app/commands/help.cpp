// SPDX-License-Identifier: Apache-2.0
// help: the documents of assets/docs on stdout.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/documents.h"
#include "messages/command.h"
#include "messages/language.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

std::string_view topic_of(const Document& document) {
  return document.file.substr(0, document.file.rfind('.'));
}

/// In the language in use, where there is one of it ("tutorial.zh.md").
const Document& translated(const Document& document) {
  const auto file = fmt::format("{}.{}.md", topic_of(document), text(say::language::code{}));
  const auto found = std::ranges::find(documents(), file, &Document::file);
  return found == documents().end() ? document : *found;
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

ExitCode print_topics() {
  for (const Document& document : originals()) {
    std::cout << fmt::format("{:<14}{}\n", topic_of(document), title_of(translated(document)));
  }
  return ExitCode::ok;
}

ExitCode print_document(const std::string& topic) {
  const std::vector<Document> all = originals();
  const auto found = std::ranges::find(all, topic, topic_of);
  if (found == all.end()) {
    std::vector<std::string> topics;
    for (const Document& document : all) topics.emplace_back(topic_of(document));
    throw CommandError(ExitCode::usage, say::command::unknown_document{.topic = topic, .topics = join_or(topics)});
  }
  std::cout << body_of(translated(*found));
  return ExitCode::ok;
}

}  // namespace

Action add_help(CLI::App& command) {
  const auto topic = std::make_shared<std::string>();
  command.add_option("TOPIC", *topic, "The document, in Markdown (default: a list of them)");
  return [topic] { return topic->empty() ? print_topics() : print_document(*topic); };
}

}  // namespace attnscope
