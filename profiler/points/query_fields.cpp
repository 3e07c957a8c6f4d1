// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/query_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/facets.h"

namespace attnscope::analysis {
namespace {

constexpr std::string_view throttled = "throttled";

/// Alias of a field: its axis name (profiler/plan/axes.h), table heading, or a short form.
struct FieldAlias {
  std::string_view name;
  std::string_view field;
};
const std::vector<FieldAlias>& field_aliases() {
  static const std::vector<FieldAlias> all = [] {
    std::vector<FieldAlias> names{{"algo", field_name::algorithm}};
    for (const FieldPair& wide : field_pairs()) names.push_back({wide.name, wide.leader().name});
    for (const Field& field : point_fields()) {
      if (!field.heading.empty()) names.push_back({field.heading, field.name});
    }
    names.insert(names.end(), {{"result", "status"}, {"values", "from"}, {"time", metric_key::time_median_ns}});
    return names;
  }();
  return all;
}

template <class... Texts>
QueryValue words(Texts&&... texts) {
  QueryValue value{{std::string(std::forward<Texts>(texts))...}};
  std::erase(value.texts, std::string());
  return value;
}

QueryValue value_of(const Field& field, const PointSpec& spec) {
  const FieldValue held = field.get(spec);
  const std::string text = attnscope::to_string(held);
  if (const auto* whole = std::get_if<std::int64_t>(&held)) {
    const bool chosen = field.role == FieldRole::knob && text == field.fallback;
    if (chosen) return words(auto_value);
    // Values below the axis minimum mark missing data of imported points.
    return *whole < field.smallest ? QueryValue{} : QueryValue{{text}, static_cast<double>(*whole)};
  }
  if (const auto* real = std::get_if<double>(&held)) return {{text}, *real};
  // Also accepts the display form: abbreviated masks, "contiguous" for page 0.
  return field.brief != nullptr ? words(text, short_text(field, spec)) : words(text);
}

QueryField point_query_field(const Field& field) {
  const bool knob = field.role == FieldRole::knob;
  QueryField made{.name = std::string(field.name)};
  made.bare = field.type == FieldType::word && !knob && field.role != FieldRole::device_state;
  made.number = field.is_number();
  if (field.type == FieldType::flag) made.words = {"yes", "no"};
  if (knob) made.words = made.number ? std::vector{std::string(auto_value)} : field.words;
  // Free-form fields also match by a part of the value ("window", "full").
  if (field.accepts_other_words) {
    made.words.clear();
    if (made.number) made.wrong = [](std::string_view) { return Message(); };
  } else if (field.type == FieldType::word && !knob) {
    made.wrong = [&field](std::string_view word) { return value_error(field, lower_case(word)); };
  }
  made.of = [field, knob](const PointTable& table) {
    const PointColumns* points = &table.points();
    if (knob) {
      return QueryColumn{[points](Row row) { return std::uint64_t{points->knobs().code(row)}; },
                         [points, field](Row row) { return value_of(field, points->spec(row, {})); }};
    }
    const FieldColumn* column = &points->field(field.name);
    return QueryColumn{[column](Row row) { return column->key(row); },
                       [points, field](Row row) { return value_of(field, points->spec(row, std::array{field.name})); }};
  };
  return made;
}

template <class Enum, std::size_t count>
std::vector<std::string> words_of(const std::array<Enum, count>& all) {
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const Enum each : all) texts.emplace_back(to_string(each));
  return texts;
}

std::vector<std::string> status_names() {
  using enum Disposition;
  std::vector<std::string> all = words_of(
      std::array{ok, infeasible, out_of_memory, incorrect, compile_error, timeout, crashed, no_counters, cancelled});
  all.emplace_back(throttled);
  all.emplace_back(to_string(Provenance::extrapolated));
  return all;
}

std::vector<std::string> provenance_names() {
  using enum Provenance;
  return words_of(std::array{measured, derived, modeled, simulated, extrapolated, imported});
}

QueryColumn tile_column(const PointTable& table) {
  return {[&table](Row row) { return std::uint64_t{table.tile_code(row)}; },
          [&table](Row row) {
            const TileShape& tile = table.tile_of(row).tile;
            return has_tile(tile) ? words(fmt::format("{}x{}", tile.br, tile.bc)) : QueryValue{};
          }};
}

QueryColumn status_column(const PointTable& table) {
  const auto continued = [&table](Row row) { return table.points().origin(row) == Provenance::extrapolated; };
  return {[&table, continued](Row row) {
            return static_cast<std::uint64_t>(table.disposition(row)) << 2U | (table.throttled(row) ? 2U : 0U) |
                   (continued(row) ? 1U : 0U);
          },
          [&table, continued](Row row) {
            return words(to_string(table.disposition(row)), table.throttled(row) ? throttled : "",
                         continued(row) ? to_string(Provenance::extrapolated) : "");
          }};
}

QueryColumn origin_column(const PointTable& table) {
  return {[&table](Row row) { return static_cast<std::uint64_t>(table.points().origin(row)); },
          [&table](Row row) {
            const Provenance origin = table.points().origin(row);
            // Extrapolated points also match "simulated".
            return words(to_string(origin), origin == Provenance::extrapolated ? to_string(Provenance::simulated) : "");
          }};
}

/// Column of a property of the point's run.
auto of_run(QueryValue (*value)(const PointTable&, RunIndex)) {
  return [value](const PointTable& table) {
    return QueryColumn{[&table](Row row) { return std::uint64_t{table.run_index(row)}; },
                       [&table, value](Row row) { return value(table, table.run_index(row)); }};
  };
}

QueryValue device_words(const PointTable& table, RunIndex index) {
  const Run& run = table.runs()[index];
  return words(device_title(table, index), run.device_name, run.device_id);
}

QueryValue run_words(const PointTable& table, RunIndex index) {
  const Run& run = table.runs()[index];
  return words(run.title, run.label, run.name);
}

QueryColumn reason_column(const PointTable& table) {
  // Equal reasons share one object, so its address is a key.
  return {[&table](Row row) { return std::uint64_t{std::bit_cast<std::uintptr_t>(&table.reason(row))}; },
          [&table](Row row) { return words(text(table.reason(row))); }};
}

std::vector<QueryField> extra_fields() {
  // One row per field; clang-format would split each into five lines.
  // clang-format off
  return {
      {.name = "tile", .of = tile_column},
      {.name = "status", .bare = true, .words = status_names(), .of = status_column},
      {.name = "from", .bare = true, .words = provenance_names(), .of = origin_column},
      {.name = "device", .of = of_run(device_words)},
      {.name = "run", .of = of_run(run_words)},
      {.name = "tag", .of = of_run([](const PointTable& table, RunIndex run) { return QueryValue{table.runs()[run].tags}; })},
      {.name = "preset", .whole = true, .of = of_run([](const PointTable& table, RunIndex run) { return words(table.runs()[run].preset); })},
      {.name = "reason", .bare = true, .of = reason_column},
  };
  // clang-format on
}

QueryField metric_query_field(const Metric& metric) {
  QueryField made{.name = std::string(metric.key)};
  made.number = true;
  made.metric = true;
  made.unit = metric.unit;
  made.of = [key = metric.key](const PointTable& table) {
    const ValueColumn* values = &table.values(key);
    return QueryColumn{{}, [values](Row row) { return QueryValue{{}, values->at(row)}; }};
  };
  return made;
}

}  // namespace

const std::vector<QueryUnit>& query_units(std::string_view unit) {
  constexpr double kib = 1024;
  static const std::map<std::string_view, std::vector<QueryUnit>> all{
      {"", {}},
      {"byte",
       {{"B"},
        {"kB", 1e3},
        {"KiB", kib},
        {"MB", 1e6},
        {"MiB", kib * kib},
        {"GB", 1e9},
        {"GiB", kib * kib * kib},
        {"TB", 1e12},
        {"TiB", kib * kib * kib * kib}}},
      {"byte/s", {{"B/s"}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}},
      {"ns", {{"ns"}, {"us", 1e3}, {"\u00B5s", 1e3}, {"\u03BCs", 1e3}, {"ms", 1e6}, {"s", 1e9}}},
      {"Tflop/s", {{"GFLOP/s", 1e-3}, {"TFLOP/s"}, {"PFLOP/s", 1e3}}},
      {"percent", {{"%"}}},
  };
  const auto found = all.find(unit);
  return found == all.end() ? all.at("") : found->second;
}

std::vector<QueryField> query_fields(const PointTable& table) {
  std::vector<QueryField> fields;
  for (const FieldColumn& column : table.points().fields()) fields.push_back(point_query_field(column.field()));
  for (const Knob& knob : table.algorithms().knobs()) fields.push_back(point_query_field(knob_field(knob)));
  for (QueryField& extra : extra_fields()) fields.push_back(std::move(extra));
  std::set<std::string_view> undeclared;
  for (const Knobs& knobs : table.points().knobs().values()) {
    for (const auto& [name, value] : knobs) undeclared.insert(name);
  }
  for (const std::string_view name : undeclared) {
    if (find_query_field(fields, name) == nullptr) fields.push_back(point_query_field(undeclared_knob_field(name)));
  }
  for (const Metric& metric : metrics_table()) {
    if (find_query_field(fields, metric.key) == nullptr) fields.push_back(metric_query_field(metric));
  }
  return fields;
}

const QueryField* find_query_field(const std::vector<QueryField>& fields, std::string_view name) {
  std::string wanted = lower_case(name);
  for (const FieldAlias& other : field_aliases()) {
    if (lower_case(other.name) == wanted) wanted = other.field;
  }
  const auto found =
      std::ranges::find_if(fields, [&](const QueryField& field) { return lower_case(field.name) == wanted; });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> query_names(const std::vector<QueryField>& fields) {
  std::vector<std::string> names;
  for (const FieldAlias& other : field_aliases()) {
    if (find_query_field(fields, other.name) != nullptr) names.emplace_back(other.name);
  }
  for (const QueryField& field : fields) names.push_back(field.name);
  return names;
}

}  // namespace attnscope::analysis
