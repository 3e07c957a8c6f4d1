// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "messages/import_preview.h"
#include "profiler/plan/text.h"
#include "storage/exchange/foreign_tables.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_values.h"

namespace attnscope {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it

namespace {

Import import_foreign(ForeignTable table, const ImportRequest& request) {
  std::size_t at = 0;
  const auto next = [&]() -> std::optional<CsvLine> {
    return at < table.rows.size() ? std::optional(std::move(table.rows[at++])) : std::nullopt;
  };
  Import import = import_table(table.header, next, request);
  import.notes.insert(import.notes.begin(), table.notes.begin(), table.notes.end());
  return import;
}

}  // namespace

std::string as_utf8(std::string text) {
  const bool little = text.starts_with("\xFF\xFE");
  if (little || text.starts_with("\xFE\xFF")) {
    std::string utf8;
    const auto unit = [&](std::size_t at) {
      const auto first = static_cast<unsigned char>(text[at]);
      const auto second = static_cast<unsigned char>(text[at + 1]);
      return static_cast<std::uint32_t>(little ? first | second << 8U : first << 8U | second);
    };
    for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
      std::uint32_t code = unit(at);
      const bool pair = code >= 0xD800 && code < 0xDC00 && at + 3 < text.size();
      if (pair) code = 0x10000 + ((code - 0xD800) << 10U) + (unit(at += 2) - 0xDC00);
      const auto tail = [&](unsigned shift) { utf8 += static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
      const unsigned length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      constexpr std::array<unsigned, 5> first_bits{0, 0, 0xC0, 0xE0, 0xF0};
      utf8 += static_cast<char>(first_bits.at(length) | code >> (6 * (length - 1)));
      for (unsigned left = length - 1; left > 0; --left) tail(6 * (left - 1));
    }
    text = std::move(utf8);
  }
  if (text.find('\n') == std::string::npos) std::ranges::replace(text, '\r', '\n');
  return text;
}

bool ImportRequest::gives(std::string_view field) const {
  return std::ranges::count(given, field, &GivenField::field) > 0;
}

bool ImportRequest::maps(std::string_view column) const {
  return std::ranges::count(map, column, &ColumnMapping::column) > 0;
}

Result<ImportFormat, Message> parse_import_format(std::string_view text) {
  const auto* const found = std::ranges::find(import_format_names, text);
  if (found != import_format_names.end()) return static_cast<ImportFormat>(found - import_format_names.begin());
  return Failure{make_message("unknown format '{}'; available: {}", text, fmt::join(import_format_names, ", "))};
}

ImportFormat detect_import_format(std::string_view text) {
  if (find_ncu_table(text) != std::string_view::npos || is_ncu_text_report(text)) {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    if (text[start] != '{' && text[start] != '[') return ImportFormat::ncu;
  }
  if (const auto foreign = detect_foreign_format(text)) return *foreign;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? ImportFormat::json : ImportFormat::csv;
}

Result<Import, Message> import_points(std::string_view text, ImportFormat format, const ImportRequest& request) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  try {
    if (const std::size_t at = first_invalid_utf8(text); at != std::string_view::npos) {
      const auto above = static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
      fail(line_place(above + 1),
           make_message("byte {} is not valid UTF-8 (save the file as UTF-8)", at - (text.rfind('\n', at) + 1) + 1));
    }
    switch (format) {
      case ImportFormat::json:
        return import_json(text, request);
      case ImportFormat::csv:
      case ImportFormat::providers:
        return import_csv(text, request);
      case ImportFormat::ncu:
        return import_ncu(text, request);
      case ImportFormat::nvbench:
        return import_foreign(read_nvbench(text, request), request);
      case ImportFormat::kernel_tuner:
        return import_foreign(read_kernel_tuner(text, request), request);
      case ImportFormat::nsight_python:
        return import_foreign(read_nsight_python(text, request), request);
      case ImportFormat::markdown:
        return import_foreign(read_markdown(text, request), request);
    }
    throw std::logic_error("unknown import format");
  } catch (const ImportError& wrong) {
    return Failure{wrong.message()};
  } catch (const nlohmann::json::exception& error) {
    std::string why = error.what();  // "[json.exception.type_error.302] type must be ..."
    if (const std::size_t at = why.find("] "); at != std::string::npos) why.erase(0, at + 2);
    return Failure{make_message("a JSON value has the wrong type: {}", why)};
  }
}

analysis::Table imported_column_table(std::vector<ImportedColumn> columns) {
  analysis::TableBuilder<ImportedColumn> table(std::move(columns));
  const auto add = [&](const char* key, const Message& title, std::string ImportedColumn::*part) {
    table.add({.key = key, .title = text(title)}, [part](const ImportedColumn& each) { return printable(each.*part); });
  };
  add("column", msg::import_preview::column{}, &ImportedColumn::name);
  add("unit", msg::import_preview::unit{}, &ImportedColumn::unit);
  add("field", msg::import_preview::field{}, &ImportedColumn::becomes);
  add("title", msg::import_preview::name{}, &ImportedColumn::title);
  add("stored_unit", msg::import_preview::stored_unit{}, &ImportedColumn::kept_in);
  table.add(
      {.key = "skip_reason", .title = text(msg::import_preview::skip_reason{}), .kind = analysis::ColumnKind::sentence},
      [](const ImportedColumn& each) { return each.left_out; });
  add("example", msg::import_preview::example{}, &ImportedColumn::example);
  return std::move(table).take();
}

}  // namespace attnscope
