// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

#include "profiler/plan/text.h"
#include "storage/exchange/export.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + "-" + command.get_name();
}

FileKind kind_of(const Output& output) {
  return output.is("csv") ? file_kind::csv : output.is("json") ? file_kind::json : file_kind::of_name({});
}

}  // namespace

void require_no_measurements(const std::string& file, const std::string& format) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    if (fs::path(file).extension() != ".attnscope") return;
    throw CommandError(ExitCode::usage,
                       "{} is a name for measurements, and this is a result (--format {}): choose another name with -o",
                       file, format);
  }
  std::array<char, 4096> first{};
  std::ifstream in(file, std::ios::binary);
  in.read(first.data(), first.size());
  const std::string_view begin(first.data(), static_cast<std::size_t>(in.gcount()));
  if (behind_links(file).extension() == ".attnscope" || file_kind::measurements.is_one(begin)) {
    throw CommandError(ExitCode::usage,
                       "{} holds measurements: --format {} does not go over them; choose another name with -o", file,
                       format);
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
  if (has("junit")) meaning += ", junit for CI, a case a row";
  const bool of_input = command.get_option_no_throw("--format") != nullptr;
  if (!of_input) {
    options_.push_back(command.add_option("--format", word_, meaning)
                           ->type_name("FORMAT")
                           ->check(CLI::IsMember(words))
                           ->capture_default_str());
  }
  for (const char* word : {"csv", "json"}) {
    if (!has(word)) continue;
    CLI::Option* brief = command.add_flag_callback(
        fmt::format("--{}", word), [this, word] { word_ = word; },
        of_input ? fmt::format("The result as {}", word) : fmt::format("Short for --format {}", word));
    for (CLI::Option* other : options_) brief->excludes(other);
    options_.push_back(brief);
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
    if (!kept_.view().empty()) finish();
    if (terminal_ != nullptr) std::cout.rdbuf(std::exchange(terminal_, nullptr));
    throw;
  } catch (...) {
    // Half a result does not stand in the place of a whole one.
    if (terminal_ != nullptr) std::cout.rdbuf(std::exchange(terminal_, nullptr));
    throw;
  }
}

void Output::finish() {
  std::cout.flush();
  if (terminal_ == nullptr) return;
  std::cout.rdbuf(std::exchange(terminal_, nullptr));
  target_->write(kept_.view());
  target_->commit();
}

void Output::title(std::string_view words) {
  line(words);
  gap();
}

void Output::heading(std::string_view words) {
  line(words);
  gap();
}

void Output::line(std::string_view words) {
  if (for_people()) std::cout << words << '\n';
}

void Output::gap() {
  if (for_people()) std::cout << '\n';
}

void Output::table(const analysis::Table& table, std::string_view document) {
  if (is("json")) return object({{"rows", rows_of(table)}}, document);
  if (is("csv")) return print_csv(table, std::cout);
  print_aligned(table, std::cout);
}

void Output::object(nlohmann::ordered_json fields, std::string_view document) {
  nlohmann::ordered_json whole{{"format", document.empty() ? command_ : std::string(document)},
                               {"version", json_version}};
  whole.update(fields);
  write_json(std::cout, whole);
}

}  // namespace attnscope
