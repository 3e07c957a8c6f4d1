// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/units/csv.h"

namespace attnscope {
namespace {

/// Columns of a terminal rather than bytes, so that what has "×" or "µ" stands straight: Chinese characters and their
/// punctuation, U+3000 and above, take two.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80U) width += byte >= 0xE3U ? 2 : 1;
  }
  return width;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

/// Without anything that steers what shows it.
Table for_terminal(Table table) {
  for (auto& row : table.rows) {
    for (std::string& field : row) field = printable(field);
  }
  return table;
}

/// The fields of problem and tile, and the knobs; algorithm and cache have columns of the commands' own.
std::vector<Field> fields_with_columns(const Registry& registry) {
  std::vector<Field> fields = fields_and_knobs(point_fields(), registry.knobs());
  std::erase_if(fields, [](const Field& field) {
    return field.role == FieldRole::algorithm || field.role == FieldRole::circumstance;
  });
  return fields;
}

}  // namespace

Table table_of(const analysis::Table& table, bool people) {
  Table written;
  for (const analysis::Column& column : table.columns) {
    written.columns.push_back(
        {.name = people ? column.title : column.key, .number = column.kind == analysis::ColumnKind::number});
  }
  for (std::size_t row = 0; row < table.rows; ++row) {
    std::vector<std::string>& fields = written.rows.emplace_back();
    for (const analysis::Column& column : table.columns) fields.push_back(column.cell(row).text);
  }
  return written;
}

void print_aligned(const Table& given, std::ostream& out) {
  const Table table = for_terminal(given);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = std::max<std::size_t>(width_of(table.columns[i].name), 3);
    for (const auto& row : table.rows) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  const auto print_row = [&](const auto& field) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += (i == 0 ? "" : "  ") + padded(field(i), widths[i], table.columns[i].number);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out << line << '\n';
  };
  print_row([&](std::size_t i) { return table.columns[i].name; });
  print_row([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : table.rows) print_row([&](std::size_t i) { return row[i]; });
}

void print_csv(const Table& table, std::ostream& out) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) out << (i == 0 ? "" : ",") << csv_text(table.columns[i].name);
  out << '\n';
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "" : ",") << (table.columns[i].number ? row[i] : csv_text(row[i]));
    }
    out << '\n';
  }
}

nlohmann::ordered_json rows_of(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json& object = rows.emplace_back(nlohmann::ordered_json::object());
    for (std::size_t i = 0; i < row.size(); ++i) {
      nlohmann::ordered_json& value = object[table.columns[i].name];
      if (row[i].empty()) continue;  // null
      if (table.columns[i].number) {
        value = nlohmann::ordered_json::parse(row[i]);
      } else {
        value = row[i];
      }
    }
  }
  return rows;
}

std::vector<TableColumn> point_columns(const Registry& registry) {
  std::vector<TableColumn> columns;
  for (const Field& field : fields_with_columns(registry))
    columns.push_back({std::string(field.name), field.is_number()});
  return columns;
}

std::vector<std::string> point_texts(const PointSpec& point, const Registry& registry) {
  std::vector<std::string> texts;
  for (const Field& field : fields_with_columns(registry)) texts.push_back(field_text(field, point));
  return texts;
}

Table without_defaults(const Table& table, const Registry& registry) {
  const std::vector<Field> fields = fields_with_columns(registry);
  const auto goes_without_saying = [&](std::string_view column, std::string_view text) {
    const auto field = std::ranges::find(fields, column, &Field::name);
    return field != fields.end() && field->shown != FieldShown::always && text == field->fallback;
  };
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool silent = std::ranges::all_of(
        table.rows, [&](const auto& row) { return goes_without_saying(table.columns[i].name, row[i]); });
    if (!silent || table.rows.empty()) kept.push_back(i);
  }
  Table result;
  for (const std::size_t i : kept) result.columns.push_back(table.columns[i]);
  for (const auto& row : table.rows) {
    auto& cells = result.rows.emplace_back();
    for (const std::size_t i : kept) cells.push_back(row[i]);
  }
  return result;
}

}  // namespace attnscope
