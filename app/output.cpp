// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/units/csv.h"
#include "storage/exchange/export.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

bool is_regular_or_missing(const fs::path& file) {
  std::error_code error;
  return !fs::exists(file, error) || fs::is_regular_file(file, error);
}

/// Format of a file by its suffix; empty: the suffix is of no format.
std::string format_of_suffix(const std::string& suffix, const Output::Words& formats) {
  const auto has = [&](std::string_view format) { return std::ranges::find(formats, format) != formats.end(); };
  if (suffix == ".txt" || suffix == ".text" || suffix == ".log") return has("text") ? "text" : "";
  if (suffix == ".xml") return has("junit") ? "junit" : "";
  return suffix.size() > 1 && has(suffix.substr(1)) ? suffix.substr(1) : "";
}

FileKind kind_of(const Output& output) {
  return output.has_format("csv")    ? file_kind::csv
         : output.has_format("json") ? file_kind::json
                                     : file_kind::for_file_name({});
}

/// Display width in terminal columns. Characters from U+3000 (CJK) take two.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80U) width += byte >= 0xE3U ? 2 : 1;
  }
  return width;
}

/// All fields and knobs except algorithm and cache, which commands print themselves.
std::vector<Field> column_fields(const Registry& registry) {
  std::vector<Field> fields = fields_and_knobs(point_fields(), registry.knobs());
  std::erase_if(fields, [](const Field& field) {
    return field.role == FieldRole::algorithm || field.role == FieldRole::device_state;
  });
  return fields;
}

}  // namespace

void require_no_measurements(const std::string& file, const std::string& format) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    if (fs::path(file).extension() != ".attnscope") return;
    throw CommandError(ExitCode::usage,
                       "{}: .attnscope files contain measurements, not {} (choose another name with -o)", file, format);
  }
  std::array<char, 4096> first{};
  std::ifstream in(file, std::ios::binary);
  in.read(first.data(), first.size());
  const std::string_view begin(first.data(), static_cast<std::size_t>(in.gcount()));
  if (resolve_symlinks(file).extension() == ".attnscope" || file_kind::measurements.is_one(begin)) {
    throw CommandError(ExitCode::usage,
                       "{} contains measurements and cannot be replaced by {} (choose another name with -o)", file,
                       format);
  }
}

void write_json(std::ostream& out, const nlohmann::ordered_json& document) {
  out << document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void Output::add_to(CLI::App& command, const Words& words, File file) {
  command_ = path_of(command);
  std::ranges::replace(command_, ' ', '-');
  word_ = words.front();
  formats_ = words;
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  const bool of_input = command.get_option_no_throw("--format") != nullptr;
  if (!of_input) {
    CLI::Option* format = command.add_option("--format", word_, "Output format; csv and json use base units")
                              ->type_name("FORMAT")
                              ->check(CLI::IsMember(words))
                              ->capture_default_str();
    format->each([this](const std::string&) { format_given_ = true; });
    options_.push_back(format);
  }
  for (const char* word : {"csv", "json"}) {
    if (!has(word)) continue;
    CLI::Option* brief = command.add_flag_callback(
        fmt::format("--{}", word),
        [this, word] {
          word_ = word;
          format_given_ = true;
        },
        of_input ? fmt::format("Output as {}", word) : fmt::format("Same as --format {}", word));
    for (CLI::Option* other : options_) brief->excludes(other);
    options_.push_back(brief);
  }
  if (file == File::no) return;
  command.add_option("-o,--output", file_, "Output file; its suffix selects the format (default: stdout)")
      ->type_name("FILE");
  command.add_flag("--force", force_, "Overwrite a file of another kind");
}

void Output::exclude_option(CLI::Option* other) {
  for (CLI::Option* option : options_) option->excludes(other);
}

void Output::choose_format() {
  const std::string suffix = fs::path(file_).extension().string();
  if (file_.empty() || suffix.empty() || !is_regular_or_missing(file_)) return;
  const std::string format = format_of_suffix(suffix, formats_);
  if (format == word_) return;
  if (format_given_ && !format.empty())
    throw CommandError(ExitCode::usage, "{}: the suffix does not match --format {} (rename the file of -o)", file_,
                       word_);
  if (format_given_ || (format.empty() && suffix == ".attnscope")) return;  // run() rejects files of measurements
  if (format.empty())
    throw CommandError(ExitCode::usage, "{}: no format with this suffix; available: {} (choose one with --format)",
                       file_, fmt::join(formats_, ", "));
  word_ = format;
}

ExitCode Output::run(const std::function<ExitCode()>& command) {
  if (!file_.empty() && file_ != "-") {
    choose_format();
    require_no_measurements(file_, word_);
    // Opens the file first: a measurement should not run if its result cannot be written.
    target_ = std::make_unique<OutputFile>(
        file_, kind_of(*this), force_ ? OutputFile::ExistingFile::any : OutputFile::ExistingFile::same_kind);
    std::cout.flush();
    terminal_ = std::cout.rdbuf(kept_.rdbuf());
  }
  try {
    const ExitCode code = command();
    finish();
    return code;
  } catch (const CommandError&) {
    // Keeps the result that `compare --fail-on-regression` prints before it throws.
    if (!kept_.view().empty()) finish();
    if (terminal_ != nullptr) std::cout.rdbuf(std::exchange(terminal_, nullptr));
    throw;
  } catch (...) {
    // Discards an incomplete result.
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
  blank_line();
}

void Output::heading(std::string_view words) {
  line(words);
  blank_line();
}

void Output::line(std::string_view words) {
  if (is_text_output()) std::cout << words << '\n';
}

void Output::blank_line() {
  if (is_text_output()) std::cout << '\n';
}

void Output::table(const analysis::Table& table, std::string_view document) {
  if (has_format("json")) return object({{"rows", rows_of(table)}}, document);
  if (has_format("csv")) return print_csv(table, std::cout);
  print_aligned(table, std::cout);
}

void Output::object(nlohmann::ordered_json fields, std::string_view document) {
  nlohmann::ordered_json whole{{"format", document.empty() ? command_ : std::string(document)},
                               {"version", json_version}};
  whole.update(fields);
  write_json(std::cout, whole);
}

std::string pad_to_width(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

analysis::Column number_column(std::string key) {
  return {.key = std::move(key), .kind = analysis::ColumnKind::number};
}

std::vector<analysis::Column> columns_named(std::initializer_list<std::string_view> keys) {
  std::vector<analysis::Column> columns;
  for (const std::string_view key : keys) {
    columns.push_back(key.starts_with('#') ? number_column(std::string(key.substr(1)))
                                           : analysis::Column{.key = std::string(key)});
  }
  return columns;
}

void strip_byte_suffixes(std::vector<analysis::Column>& columns) {
  constexpr std::string_view unit = "_bytes";
  for (analysis::Column& column : columns) {
    if (column.key.ends_with(unit)) column.title = column.key.substr(0, column.key.size() - unit.size());
  }
}

analysis::Table text_table(std::vector<analysis::Column> columns, TableRows rows) {
  analysis::Table table{.columns = std::move(columns), .rows = rows.size()};
  const auto shared = std::make_shared<const TableRows>(std::move(rows));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    analysis::Column& column = table.columns[i];
    if (column.title.empty()) column.title = column.key;
    column.cell = [shared, i](std::size_t row) { return analysis::Cell{.text = (*shared)[row][i]}; };
  }
  return table;
}

void print_aligned(const analysis::Table& table, std::ostream& out) {
  TableRows lines(table.rows + 2);
  std::vector<std::size_t> widths;
  for (const analysis::Column& column : table.columns) {
    std::size_t width = std::max<std::size_t>(width_of(column.title), 3);
    for (std::size_t row = 0; row < table.rows; ++row) {
      lines[row + 2].push_back(printable(column.cell(row).text));
      width = std::max(width, width_of(lines[row + 2].back()));
    }
    lines[0].push_back(column.title);
    lines[1].emplace_back(width, '-');
    widths.push_back(width);
  }
  for (const std::vector<std::string>& fields : lines) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool right = table.columns[i].kind == analysis::ColumnKind::number;
      line += (i == 0 ? "" : "  ") + pad_to_width(fields[i], widths[i], right);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out << line << '\n';
  }
}

void print_csv(const analysis::Table& table, std::ostream& out) {
  const auto print = [&](const auto& field) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) out << (i == 0 ? "" : ",") << field(table.columns[i]);
    out << '\n';
  };
  print([](const analysis::Column& column) { return quote_csv_field(column.key); });
  for (std::size_t row = 0; row < table.rows; ++row) {
    print([row](const analysis::Column& column) {
      std::string text = column.cell(row).text;
      return column.kind == analysis::ColumnKind::number ? text : quote_csv_field(text);
    });
  }
}

nlohmann::ordered_json rows_of(const analysis::Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t row = 0; row < table.rows; ++row) {
    nlohmann::ordered_json& object = rows.emplace_back(nlohmann::ordered_json::object());
    for (const analysis::Column& column : table.columns) {
      const std::string text = column.cell(row).text;
      nlohmann::ordered_json& value = object[column.key];
      if (text.empty()) continue;  // leaves null
      if (column.kind == analysis::ColumnKind::number) {
        value = nlohmann::ordered_json::parse(text);
      } else {
        value = text;
      }
    }
  }
  return rows;
}

std::vector<analysis::Column> point_columns(const Registry& registry) {
  std::vector<analysis::Column> columns;
  for (const Field& field : column_fields(registry)) {
    const std::string key(field.name);
    columns.push_back(field.is_number() ? number_column(key) : analysis::Column{.key = key});
  }
  return columns;
}

std::vector<std::string> point_cells(const PointSpec& point, const Registry& registry) {
  std::vector<std::string> texts;
  for (const Field& field : column_fields(registry)) texts.push_back(field_text(field, point));
  return texts;
}

void drop_default_columns(analysis::Table& table, const Registry& registry) {
  for (const Field& field : column_fields(registry)) {
    const analysis::Column* const column = table.find(field.name);
    if (column == nullptr || field.shown == FieldVisibility::always) continue;
    bool silent = table.rows > 0;
    for (std::size_t row = 0; silent && row < table.rows; ++row) silent = column->cell(row).text == field.fallback;
    if (silent) table.drop(field.name);
  }
}

StatusLine::StatusLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void StatusLine::show(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || (shown_ && now - last_ < std::chrono::milliseconds(50))) return;
  last_ = now;
  winsize size{};
  const std::size_t width = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79;
  // A string has at most as many columns as bytes. Does not split a UTF-8 character.
  std::size_t end = std::min(width, text.size());
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  fmt::print(stderr, "\r\033[K{}", text.substr(0, end));
  std::fflush(stderr);
  shown_ = true;
}

void StatusLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace attnscope
