// SPDX-License-Identifier: Apache-2.0
#include "app/point_fields.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/plan/fields.h"

namespace attnscope {
namespace {

/// The fields of problem and tile, and the knobs; algorithm and cache have columns of the commands' own.
std::vector<Field> fields_with_columns(const Registry& registry) {
  std::vector<Field> fields = fields_and_knobs(point_fields(), registry.knobs());
  std::erase_if(fields, [](const Field& field) {
    return field.role == FieldRole::algorithm || field.role == FieldRole::circumstance;
  });
  return fields;
}

}  // namespace

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
