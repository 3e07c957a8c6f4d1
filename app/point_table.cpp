// SPDX-License-Identifier: Apache-2.0
#include "app/point_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/plan/fields.h"

namespace attnscope {
namespace {

/// The fields of problem and tile; algorithm and cache have columns of the commands' own.
bool is_column(const Field& field) {
  return field.name != "algorithm" && field.name != "cache";
}

}  // namespace

std::vector<TableColumn> point_columns(const Registry& registry) {
  std::vector<TableColumn> columns;
  for (const Field& field : point_fields()) {
    const bool number = field.type == FieldType::integer || field.type == FieldType::real;
    if (is_column(field)) columns.push_back({std::string(field.name), number});
  }
  for (const Knob& knob : registry.knobs()) columns.push_back({knob.name, knob.words.empty()});
  return columns;
}

std::vector<std::string> point_texts(const PointSpec& point, const Registry& registry, bool people) {
  std::vector<std::string> texts;
  for (const Field& field : point_fields()) {
    if (!is_column(field)) continue;
    // "none" in files reads "full" to people.
    texts.push_back(people && field.name == "mask" ? mask_title(point.problem.mask) : field_text(field, point));
  }
  for (const Knob& knob : registry.knobs()) texts.push_back(knob_text(knob, point.knobs));
  return texts;
}

Table without_defaults(const Table& table, const Registry& registry) {
  const auto goes_without_saying = [&](std::string_view column, std::string_view text) {
    const Field* field = find_field(column);
    // What every program knows of a problem is said always.
    if (field != nullptr) return field->since > 1 || field->name == "pass" ? text == field->fallback : false;
    const Knob* knob = registry.find_knob(column);
    return knob != nullptr && text == knob_text(*knob, {});
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
    auto& fields = result.rows.emplace_back();
    for (const std::size_t i : kept) fields.push_back(row[i]);
  }
  return result;
}

}  // namespace attnscope
