// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "messages/command.h"
#include "messages/language.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + "-" + command.get_name();
}

std::string element(std::string_view name, std::string_view words) {
  return fmt::format("<{0}>{1}</{0}>\n", name, html_text(std::string(words)));
}

FileKind kind_of(const Output& output) {
  return output.is("csv") ? file_kind::csv : output.is("json") ? file_kind::json : file_kind::of_name({});
}

}  // namespace

void require_no_measurements(const std::string& file, const std::string& format) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    if (fs::path(file).extension() != ".attnscope") return;
    throw CommandError(ExitCode::usage, say::command::name_of_measurements{.file = file, .format = format});
  }
  std::array<char, 4096> first{};
  std::ifstream in(file, std::ios::binary);
  in.read(first.data(), first.size());
  const std::string_view begin(first.data(), static_cast<std::size_t>(in.gcount()));
  if (behind_links(file).extension() == ".attnscope" || file_kind::measurements.is_one(begin)) {
    throw CommandError(ExitCode::usage, say::command::holds_measurements{.file = file, .format = format});
  }
}

void write_json(std::ostream& out, const nlohmann::ordered_json& document) {
  out << document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void Output::add_to(CLI::App& command, const Words& words, File file) {
  command_ = path_of(command);
  word_ = words.front();
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  std::string meaning = "How the result is written";
  if (has("csv")) meaning += ": csv and json in base units";
  if (has("html")) meaning += ", html as one page";
  if (has("junit")) meaning += ", junit for CI, a case a row";
  const bool of_input = command.get_option_no_throw("--format") != nullptr;
  if (!of_input) {
    options_.push_back(command.add_option("--format", word_, meaning)
                           ->type_name("FORMAT")
                           ->check(CLI::IsMember(words))
                           ->capture_default_str());
  }
  for (const char* word : {"csv", "json", "md"}) {
    if (!has(word)) continue;
    CLI::Option* brief = command.add_flag_callback(
        fmt::format("--{}", word), [this, word] { word_ = word; },
        of_input ? fmt::format("The result as {}", word) : fmt::format("Short for --format {}", word));
    for (CLI::Option* other : options_) brief->excludes(other);
    options_.push_back(brief);
  }
  if (has("json") && !of_input) {
    command
        .add_option("--json-version", json_version_,
                    "Of JSON: 1 is the form of before, without the head that every document has")
        ->type_name("N")
        ->check(CLI::IsMember({1, 2}))
        ->capture_default_str();
  }
  if (file == File::no) return;
  command.add_option("-o,--output", file_, "Write the result to FILE (default: stdout)")->type_name("FILE");
  command.add_flag("--force", force_, "Let -o replace a file of another kind, too");
}

void Output::exclude(CLI::Option* other) {
  for (CLI::Option* option : options_) option->excludes(other);
}

ExitCode Output::run(const std::function<ExitCode()>& command) {
  if (!file_.empty() && file_ != "-") {
    require_no_measurements(file_, word_);
    // A file that cannot be written is known before anything is measured.
    target_ = std::make_unique<OutputFile>(file_, kind_of(*this),
                                           force_ ? OutputFile::Existing::any : OutputFile::Existing::of_its_kind);
    std::cout.flush();
    terminal_ = std::cout.rdbuf(kept_.rdbuf());
  }
  try {
    const ExitCode code = command();
    finish();
    return code;
  } catch (const CommandError&) {
    // What was found out is told (`compare --fail-on-regression`); what failed before it printed leaves the file as it
    // is.
    if (begun_ || !kept_.view().empty()) finish();
    if (terminal_ != nullptr) std::cout.rdbuf(std::exchange(terminal_, nullptr));
    throw;
  } catch (...) {
    // Half a result does not stand in the place of a whole one.
    if (terminal_ != nullptr) std::cout.rdbuf(std::exchange(terminal_, nullptr));
    throw;
  }
}

void Output::finish() {
  if (std::exchange(begun_, false)) std::cout << "</body></html>\n";
  std::cout.flush();
  if (terminal_ == nullptr) return;
  std::cout.rdbuf(std::exchange(terminal_, nullptr));
  target_->write(kept_.view());
  target_->commit();
}

void Output::begin_page() {
  if (std::exchange(begun_, true)) return;
  std::string title = page_title_.empty() ? command_ : page_title_;
  if (page_title_.empty()) std::ranges::replace(title, '-', ' ');
  std::cout << "<!DOCTYPE html>\n<html lang=\"" << html_text(text(say::language::code{}))
            << "\"><head><meta charset=\"utf-8\"><title>" << html_text(title)
            << "</title>\n<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:2em}"
               "table{border-collapse:collapse;margin:0 0 1.5em}th,td{border:1px solid #8888;padding:.25em "
               ".6em;text-align:left;"
               "vertical-align:top}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
               ".better{font-weight:bold;color:#0a7d32}.worse{font-weight:bold;color:#c62828}.muted{font-style:italic}"
               "@media(prefers-color-scheme:dark){.better{color:#6fd08c}.worse{color:#ff8a80}}</style></head><body>\n";
}

void Output::say(std::string_view words, std::string_view tag, std::string_view mark, std::string_view end) {
  if (is("html")) {
    begin_page();
    std::cout << element(tag, words);
  } else if (is("md")) {
    std::cout << mark << escape_markdown(words) << end;
  } else if (for_people()) {
    std::cout << words << end;
  }
}

void Output::title(std::string_view words) {
  page_title_ = words;
  say(words, "h1", "# ", "\n\n");
}

void Output::heading(std::string_view words) {
  say(words, "h2", "## ", "\n\n");
}

void Output::line(std::string_view words) {
  say(words, "p", "", "\n");
}

void Output::item(std::string_view words) {
  say(words, "p", "- ", "\n");
}

void Output::gap() {
  if (is("text") || is("md")) std::cout << '\n';
}

template <class AnyTable>
void Output::write_table(const AnyTable& table, std::string_view document) {
  const auto plain = [&]() -> decltype(auto) {
    if constexpr (std::is_same_v<AnyTable, Table>) {
      return (table);
    } else {
      return table_of(table, for_people());
    }
  };
  if (is("html")) {
    begin_page();
    print_html(table, std::cout);
  } else if (is("csv")) {
    print_csv(plain(), std::cout);
  } else if (!is("json")) {
    print_aligned(plain(), is("md"), std::cout);
  } else if (json_version_ == 1) {
    write_json(std::cout, rows_of(plain()));
  } else {
    object({{"rows", rows_of(plain())}}, document);
  }
}

void Output::table(const Table& table, std::string_view document) {
  write_table(table, document);
}

void Output::table(const analysis::Table& table, std::string_view document) {
  write_table(table, document);
}

void Output::object(nlohmann::ordered_json fields, std::string_view document) {
  nlohmann::ordered_json whole{{"format", document.empty() ? command_ : std::string(document)},
                               {"version", json_version_}};
  whole.update(fields);
  write_json(std::cout, whole);
}

void Output::tests(std::string_view suite, const std::vector<TestCase>& cases) {
  using enum TestCase::Outcome;
  const auto count = [&](TestCase::Outcome outcome) { return std::ranges::count(cases, outcome, &TestCase::outcome); };
  std::cout << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"" << html_text(std::string(suite))
            << "\" tests=\"" << cases.size() << "\" failures=\"" << count(failure) << "\" errors=\"" << count(error)
            << "\" skipped=\"" << count(skipped) << "\">\n";
  for (const TestCase& each : cases) {
    std::cout << "<testcase classname=\"" << html_text(each.group) << "\" name=\"" << html_text(each.name) << "\">";
    if (each.outcome == passed) {
      std::cout << "<system-out>" << html_text(each.message) << "</system-out>";
    } else {
      std::cout << fmt::format("<{} message=\"{}\"/>",
                               each.outcome == failure ? "failure"
                               : each.outcome == error ? "error"
                                                       : "skipped",
                               html_text(each.message));
    }
    std::cout << "</testcase>\n";
  }
  std::cout << "</testsuite>\n";
}

}  // namespace attnscope
