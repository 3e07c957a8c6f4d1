// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/units/csv.h"

namespace attnscope {
namespace {

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

std::string pad_to_width(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return right ? blanks + text : text + blanks;
}

analysis::Column number_column(std::string key) {
  return {.key = std::move(key), .kind = analysis::ColumnKind::number};
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

}  // namespace attnscope
