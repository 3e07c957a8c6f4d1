// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/query_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>

#include "messages/facet.h"
#include "messages/points_table.h"
#include "messages/query.h"
#include "profiler/analysis/facets.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

using Bare = QueryField::Bare;

constexpr std::string_view throttled = "throttled";
constexpr std::string_view left_to_algorithm = "auto";

/// Names that stand for a field: what axes (profiler/plan/axes.h) and the table of points call it, or what is short.
struct OtherName {
  std::string_view name;
  std::string_view field;
};
constexpr std::array other_names{OtherName{"algo", "algorithm"},
                                 OtherName{"N", "n_k"},
                                 OtherName{"heads", "heads_q"},
                                 OtherName{"type", "dtype"},
                                 OtherName{"result", "status"},
                                 OtherName{"values", "from"},
                                 OtherName{"time", metric_key::time_median_ns}};

template <class... Texts>
QueryValue words(Texts&&... texts) {
  QueryValue value{{std::string(std::forward<Texts>(texts))...}};
  std::erase(value.texts, std::string());
  return value;
}

// Fields of the table of fields.

Bare bare_of(const Field& field) {
  if (field.type == FieldType::word) return field.name == "cache" ? Bare::no : Bare::words;
  if (field.type == FieldType::real) return Bare::numbers;
  // Of whole numbers those that say which point it is; 64 would else be a number of heads as well.
  constexpr std::array<std::string_view, 5> telling{"n_q", "n_k", "d", "br", "bc"};
  const bool tells = std::ranges::find(telling, field.name) != telling.end();
  return tells ? Bare::numbers : Bare::no;
}

QueryValue value_of(const FieldColumn& column, Row row) {
  const Field& field = column.field();
  const FieldValue held = column.value(row);
  const std::string text = attnscope::to_string(held);
  if (const auto* whole = std::get_if<std::int64_t>(&held)) {
    // An extent below what an axis takes is one that an imported point does not state.
    return *whole < field.smallest ? QueryValue{} : QueryValue{{text}, static_cast<double>(*whole)};
  }
  if (const auto* real = std::get_if<double>(&held)) return {{text}, *real};
  // Views call mask=none "full".
  if (field.name == "mask") {
    if (const auto mask = parse_mask(text)) return words(text, mask_text(*mask));
  }
  return words(text);
}

QueryField of_field(const Field& field) {
  QueryField made{.name = std::string(field.name), .label = field.label(), .bare = bare_of(field)};
  made.number = field.type == FieldType::integer || field.type == FieldType::real;
  if (field.type == FieldType::flag) made.words = {"yes", "no"};
  // Algorithms may be of other programs, and a mask is also asked for by one of its words ("window", "full").
  const bool open = field.name == "algorithm" || field.name == "mask";
  if (field.type == FieldType::word && !open) {
    made.wrong = [&field](std::string_view word) {
      PointSpec trial;
      const auto set = set_field(field, trial, lower_case(word));
      return set ? Message() : set.error();
    };
  }
  made.of = [name = field.name](const PointTable& table) {
    const FieldColumn* column = &table.points().field(name);
    return QueryColumn{[column](Row row) { return column->key(row); },
                       [column](Row row) { return value_of(*column, row); }};
  };
  return made;
}

// Knobs.

QueryColumn knob_column(const PointTable& table, std::function<QueryValue(const Knobs&)> value) {
  const PointColumns::KnobsColumn* knobs = &table.points().knobs();
  return {[knobs](Row row) { return std::uint64_t{knobs->code(row)}; },
          [knobs, value = std::move(value)](Row row) { return value((*knobs)[row]); }};
}

QueryField query_field_of_knob(const Knob& knob) {
  QueryField made{.name = knob.name, .label = knob.label};
  made.number = knob.words.empty();
  made.words = made.number ? std::vector{std::string(left_to_algorithm)} : knob.words;
  made.of = [knob](const PointTable& table) {
    return knob_column(table, [knob](const Knobs& knobs) {
      if (!knob.words.empty()) return words(knob_text(knob, knobs));
      const std::int64_t number = knobs.number(knob.name);
      if (number == 0) return words(left_to_algorithm);
      return QueryValue{{fmt::to_string(number)}, static_cast<double>(number)};
    });
  };
  return made;
}

/// What no algorithm states: it may hold numbers or words.
QueryField of_foreign_knob(const std::string& name) {
  QueryField made{.name = name, .label = Message::verbatim(name)};
  made.number = true;
  made.wrong = [](std::string_view) { return Message(); };
  made.of = [name](const PointTable& table) {
    return knob_column(table, [name](const Knobs& knobs) {
      const KnobValue* value = knobs.find(name);
      if (value == nullptr) return QueryValue{};
      QueryValue held = words(attnscope::to_string(*value));
      if (const auto* whole = std::get_if<std::int64_t>(value)) held.number = static_cast<double>(*whole);
      return held;
    });
  };
  return made;
}

// What a point has beside fields and knobs: a line each.

template <class Enum, std::size_t count>
std::vector<std::string> words_of(const std::array<Enum, count>& all) {
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const Enum each : all) texts.emplace_back(to_string(each));
  return texts;
}

std::vector<std::string> status_words() {
  using enum Disposition;
  std::vector<std::string> all = words_of(
      std::array{ok, infeasible, out_of_memory, incorrect, compile_error, timeout, crashed, no_counters, cancelled});
  all.emplace_back(throttled);
  all.emplace_back(to_string(Provenance::extrapolated));
  return all;
}

std::vector<std::string> origin_words() {
  using enum Provenance;
  return words_of(std::array{measured, derived, modelled, simulated, extrapolated, imported});
}

QueryColumn tile_column(const PointTable& table) {
  return {[&table](Row row) { return std::uint64_t{table.tile_code(row)}; },
          [&table](Row row) {
            const TileShape& tile = table.tile_of(row).tile;
            return tile_stated(tile) ? words(fmt::format("{}x{}", tile.br, tile.bc)) : QueryValue{};
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
            // What is extrapolated is a simulation.
            return words(to_string(origin), origin == Provenance::extrapolated ? to_string(Provenance::simulated) : "");
          }};
}

QueryColumn of_run(const PointTable& table, QueryValue (*value)(const PointTable&, RunIndex)) {
  return {[&table](Row row) { return std::uint64_t{table.run_index(row)}; },
          [&table, value](Row row) { return value(table, table.run_index(row)); }};
}

QueryColumn device_column(const PointTable& table) {
  return of_run(table, [](const PointTable& t, RunIndex run) {
    const Run& of = t.runs()[run];
    return words(device_title(t, run), of.device_name, of.device_id);
  });
}

QueryColumn run_column(const PointTable& table) {
  return of_run(table,
                [](const PointTable& t, RunIndex run) { return words(t.runs()[run].title, t.runs()[run].label); });
}

QueryColumn preset_column(const PointTable& table) {
  return of_run(table, [](const PointTable& t, RunIndex run) { return words(t.runs()[run].label); });
}

QueryColumn reason_column(const PointTable& table) {
  // Equal reasons are kept once: where it stands tells it from others.
  return {[&table](Row row) { return std::uint64_t{std::bit_cast<std::uintptr_t>(&table.reason(row))}; },
          [&table](Row row) { return words(text(table.reason(row))); }};
}

std::vector<QueryField> own_fields() {
  // One line a field; clang-format would make five of each.
  // clang-format off
  return {
      {.name = "tile", .label = say::facet::tile{}, .of = tile_column},
      {.name = "status", .label = say::points_table::result{}, .bare = Bare::words, .words = status_words(), .of = status_column},
      {.name = "from", .label = say::points_table::values{}, .bare = Bare::words, .words = origin_words(), .of = origin_column},
      {.name = "device", .label = say::facet::device{}, .of = device_column},
      {.name = "run", .label = say::points_table::run{}, .of = run_column},
      {.name = "preset", .label = say::query::preset{}, .of = preset_column},
      {.name = "reason", .label = say::points_table::reason{}, .bare = Bare::words, .of = reason_column},
  };
  // clang-format on
}

// Metrics.

QueryField of_metric(const Metric& metric) {
  QueryField made{.name = std::string(metric.key), .label = metric.label()};
  made.number = true;
  made.metric = true;
  made.unit = metric.unit;
  made.of = [key = metric.key](const PointTable& table) {
    const ValueColumn* values = &table.values(key);
    return QueryColumn{{}, [values](Row row) { return QueryValue{{}, values->at(row)}; }};
  };
  return made;
}

constexpr double query_kib = 1024;
constexpr std::array all_query_units{
    QueryUnit{"byte", "B"},
    QueryUnit{"byte", "kB", 1e3},
    QueryUnit{"byte", "KiB", query_kib, false},
    QueryUnit{"byte", "MB", 1e6},
    QueryUnit{"byte", "MiB", query_kib* query_kib, false},
    QueryUnit{"byte", "GB", 1e9},
    QueryUnit{"byte", "GiB", query_kib* query_kib* query_kib, false},
    QueryUnit{"byte", "TB", 1e12},
    QueryUnit{"byte", "TiB", query_kib* query_kib* query_kib* query_kib, false},
    QueryUnit{"byte/s", "B/s"},
    QueryUnit{"byte/s", "kB/s", 1e3},
    QueryUnit{"byte/s", "MB/s", 1e6},
    QueryUnit{"byte/s", "GB/s", 1e9},
    QueryUnit{"byte/s", "TB/s", 1e12},
    QueryUnit{"ns", "ns"},
    QueryUnit{"ns", "us", 1e3},
    QueryUnit{"ns", "\u00B5s", 1e3, false},
    QueryUnit{"ns", "\u03BCs", 1e3, false},
    QueryUnit{"ns", "ms", 1e6},
    QueryUnit{"ns", "s", 1e9},
    QueryUnit{"Tflop/s", "GFLOP/s", 1e-3},
    QueryUnit{"Tflop/s", "TFLOP/s"},
    QueryUnit{"Tflop/s", "PFLOP/s", 1e3},
    QueryUnit{"percent", "%", 1, false},
};

}  // namespace

std::vector<QueryUnit> query_units(std::string_view unit) {
  std::vector<QueryUnit> of_it;
  std::ranges::copy_if(all_query_units, std::back_inserter(of_it),
                       [&](const QueryUnit& each) { return each.unit == unit; });
  return of_it;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<QueryField> query_fields(const PointTable& table, std::span<const PointColumns* const> more) {
  std::vector<QueryField> fields;
  for (const FieldColumn& column : table.points().fields()) fields.push_back(of_field(column.field()));
  for (const Knob& knob : table.algorithms().knobs()) fields.push_back(query_field_of_knob(knob));
  for (QueryField& own : own_fields()) fields.push_back(std::move(own));
  std::set<std::string> foreign;
  const auto add_knobs_of = [&](const PointColumns& points) {
    for (const Knobs& knobs : points.knobs().values()) {
      for (const auto& [name, value] : knobs) foreign.insert(name);
    }
  };
  add_knobs_of(table.points());
  for (const PointColumns* points : more) add_knobs_of(*points);
  for (const std::string& name : foreign) {
    if (find_query_field(fields, name) == nullptr) fields.push_back(of_foreign_knob(name));
  }
  for (const Metric& metric : metrics_table()) {
    if (find_query_field(fields, metric.key) == nullptr) fields.push_back(of_metric(metric));
  }
  return fields;
}

const QueryField* find_query_field(const std::vector<QueryField>& fields, std::string_view name) {
  std::string wanted = lower_case(name);
  for (const OtherName& other : other_names) {
    if (lower_case(other.name) == wanted) wanted = other.field;
  }
  const auto found =
      std::ranges::find_if(fields, [&](const QueryField& field) { return lower_case(field.name) == wanted; });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> query_names(const std::vector<QueryField>& fields) {
  std::vector<std::string> names;
  for (const OtherName& other : other_names) {
    if (find_query_field(fields, other.name) != nullptr) names.emplace_back(other.name);
  }
  for (const QueryField& field : fields) names.push_back(field.name);
  return names;
}

}  // namespace attnscope::analysis
