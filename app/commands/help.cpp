// SPDX-License-Identifier: Apache-2.0
// help: the documents of assets/docs, axes, manual pages and what shells complete by, on stdout.
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
#include "app/shell_files.h"
#include "kernels/registry.h"
#include "messages/axis.h"
#include "messages/command.h"
#include "messages/language.h"
#include "profiler/plan/axes.h"
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

constexpr std::string_view axes_topic = "axes";

ExitCode print_axes() {
  std::cout << "# " << text(say::axis::help_title{}) << "\n\n" << text(say::axis::help_words{}) << "\n\n";
  for (const std::string& line : axis_help(known_algorithms())) std::cout << "- " << line << '\n';
  std::cout << '\n' << text(say::axis::help_masks{}) << '\n';
  return ExitCode::ok;
}

ExitCode print_topics() {
  const auto print = [](std::string_view topic, std::string_view title) {
    std::cout << fmt::format("{:<14}{}\n", topic, title);
  };
  for (const Document& document : originals()) print(topic_of(document), title_of(translated(document)));
  print(axes_topic, text(say::axis::help_title{}));
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
    throw CommandError(ExitCode::usage, say::command::unknown_document{.topic = topic, .topics = join_or(topics())});
  }
  std::cout << body_of(translated(*found));
  return ExitCode::ok;
}

/// "kernels build" below the program.
const CLI::App& command_named(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below = command->get_subcommands({});
    const auto found = std::ranges::find(below, word, &CLI::App::get_name);
    if (found == below.end()) throw CommandError(ExitCode::usage, say::command::unknown_command{.word = word});
    command = *found;
  }
  return *command;
}

struct HelpOptions {
  std::string topic;
  std::vector<std::string> man;
  bool as_man = false;
  std::string shell;
  std::string folder;
};

ExitCode help(const HelpOptions& options, const CLI::App& program) {
  if (!options.folder.empty()) {
    write_shell_files(program, options.folder);
  } else if (options.as_man) {
    std::cout << man_page(command_named(program, options.man));
  } else if (!options.shell.empty()) {
    std::cout << completion(program, options.shell);
  } else {
    return options.topic.empty() ? print_topics() : print_document(options.topic);
  }
  return ExitCode::ok;
}

}  // namespace

Action add_help(CLI::App& command) {
  const auto options = std::make_shared<HelpOptions>();
  command.add_option("TOPIC", options->topic, "The document, in Markdown (default: a list of them)")
      ->type_name(fmt::format("{{{}}}", fmt::join(topics(), ",")));
  CLI::Option* man =
      command.add_option("--man", options->man, "The manual page of COMMAND (default: of attnscope), in roff")
          ->type_name("COMMAND")
          ->expected(0, 2);
  CLI::Option* shell =
      command
          .add_option("--completion", options->shell,
                      "What that shell is to source, so that it completes commands, options and values")
          ->type_name("SHELL")
          ->check(CLI::IsMember(completed_shells()))
          ->excludes(man);
  command.add_option("--write-shell-files", options->folder)->group("")->excludes(man, shell);  // for the installation
  const CLI::App& program = *command.get_parent();
  return [options, man, &program] {
    options->as_man = man->count() > 0;
    std::erase(options->man, "");  // what CLI11 gives an option without a value
    return help(*options, program);
  };
}

}  // namespace attnscope
