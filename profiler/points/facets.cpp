// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/facets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

#include "messages/common.h"
#include "messages/facet.h"
#include "messages/facet_help.h"

namespace attnscope::analysis {
namespace {

/// Sorts the values by order and id; equal values get one code.
void sort_codes(CodeColumn& column) {
  std::vector<std::uint32_t> order(column.values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const FacetValue& x = column.values[a];
    const FacetValue& y = column.values[b];
    return std::tie(x.order, x.id()) < std::tie(y.order, y.id());
  });
  std::vector<std::uint32_t> place(order.size());
  std::vector<FacetValue> values;
  for (const std::uint32_t code : order) {
    FacetValue& value = column.values[code];
    const bool again = !values.empty() && values.back().order == value.order && values.back() == value;
    if (!again) values.push_back(std::move(value));
    place[code] = static_cast<std::uint32_t>(values.size() - 1);
  }
  column.values = std::move(values);
  for (std::uint32_t& code : column.codes) code = place[code];
}

/// Codes the rows by `key_of(row)`; `describe` makes the FacetValue of the first row with a key.
template <class Key, class Describe>
CodeColumn encode(const PointTable& table, const Key& key_of, const Describe& describe) {
  CodeColumn column;
  column.codes.reserve(table.size());
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  std::uint64_t last = 0;
  for (Row row = 0; row < table.size(); ++row) {
    const std::uint64_t key = key_of(row);
    if (row == 0 || key != last) {  // adjacent rows are often equal
      const auto [place, first] = known.try_emplace(key, static_cast<std::uint32_t>(column.values.size()));
      if (first) column.values.push_back(describe(row));
      column.codes.push_back(place->second);
    } else {
      column.codes.push_back(column.codes.back());
    }
    last = key;
  }
  sort_codes(column);
  return column;
}

double order_of(const attnscope::Field& field, const PointSpec& spec, const Registry& algorithms) {
  if (field.role == FieldRole::algorithm) return static_cast<double>(algorithms.place(spec.algorithm));
  if (field.order != nullptr) return field.order(spec);
  const attnscope::FieldValue value = field.get(spec);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return static_cast<double>(std::ranges::find(field.words, std::get<std::string>(value)) - field.words.begin());
}

FacetValue value_of(const attnscope::Field& field, const PointSpec& spec, const Registry& algorithms) {
  FacetValue value{order_of(field, spec, algorithms), short_text(field, spec)};
  const std::string whole = field_text(field, spec);
  if (field.brief != nullptr && whole != value.text && whole != field.fallback) value.full = whole;
  return value;
}

CodeColumn encode_field(const attnscope::Field& field, const PointTable& table) {
  if (field.role == FieldRole::knob) {
    const PointColumns::KnobsColumn& knobs = table.points().knobs();
    return encode(
        table, [&](Row row) { return knobs.code(row); },
        [&](Row row) {
          PointSpec spec;
          spec.knobs = knobs[row];
          return value_of(field, spec, table.algorithms());
        });
  }
  const std::vector<std::string_view> names = field.parts.empty() ? std::vector{field.name} : field.parts;
  std::vector<const FieldColumn*> columns;
  columns.reserve(names.size());
  for (const std::string_view name : names) columns.push_back(&table.points().field(name));
  const auto key_of = [&](Row row) {
    std::uint64_t key = 0;
    for (const FieldColumn* column : columns) key = key * column->distinct() + column->key(row);
    return key;
  };
  return encode(table, key_of,
                [&](Row row) { return value_of(field, table.points().spec(row, names), table.algorithms()); });
}

PointAxis axis_of(const attnscope::Field& field) {
  Facet facet{.key = std::string(field.name),
              .label = field.label(),
              .help = field.meaning ? field.meaning() : field.help(),
              .encode = [field](const PointTable& table) { return encode_field(field, table); }};
  facet.stem = field.stem;
  if (field.type != FieldType::word && field.stem.empty()) facet.stem = fmt::format("{}-", field.name);
  PointSpec usual;
  if (!field.fallback.empty() && set_field(field, usual, field.fallback)) facet.usual = short_text(field, usual);
  facet.always_shown = field.fallback.empty() && field.role != FieldRole::tile && group_of(field.name) == nullptr;
  facet.quiet = field.role == FieldRole::problem && field.shown != FieldVisibility::always;
  facet.titled = field.in_title != nullptr;
  PointAxis axis{.facet = std::make_shared<const Facet>(std::move(facet)),
                 .names = {field.parts.begin(), field.parts.end()},
                 .number = field.is_number() || field.name == field_groups().front().name};
  if (field.parts.empty()) axis.names = {std::string(field.name)};
  return axis;
}

/// Devices by id, so that two GPUs of one model differ. Labels simulated and imported devices with their provenance.
CodeColumn encode_devices(const PointTable& table) {
  return encode(
      table, [&](Row row) { return table.run_index(row); },
      [&](Row row) {
        const Run& run = table.run(row);
        const std::string title = device_title(table, table.run_index(row));
        const bool measured = run.provenance == Provenance::measured;
        if (measured) return FacetValue{0, title};
        return FacetValue{static_cast<double>(run.provenance) + 1,
                          fmt::format("{} {}", text(attnscope::title(run.provenance)), title),
                          fmt::format("{} {}", to_string(run.provenance), title)};
      });
}

/// n_q; points with n_q = n_k share one value, "N".
FacetPtr queries_facet() {
  constexpr std::string_view as_keys = "N";
  const auto encode_queries = [as_keys](const PointTable& table) {
    const auto queries = [&](Row row) -> std::uint64_t {
      return table.n_q(row) == table.n_k(row) ? 0 : static_cast<std::uint64_t>(table.n_q(row));
    };
    return encode(table, queries, [&](Row row) {
      const std::uint64_t count = queries(row);
      return FacetValue{static_cast<double>(count), count == 0 ? std::string(as_keys) : fmt::to_string(count)};
    });
  };
  static const auto facet = std::make_shared<const Facet>(Facet{.key = std::string(field_name::n_q),
                                                                .label = find_field(field_name::n_q)->label(),
                                                                .help = msg::facet_help::n_q{},
                                                                .encode = encode_queries,
                                                                .stem = "nq",
                                                                .usual = std::string(as_keys),
                                                                .quiet = true});
  return facet;
}

/// Facet of a single field whose group is partly on an axis.
FacetPtr single_field_facet(std::string_view name) {
  return name == field_name::n_q ? queries_facet() : axis_of(*find_field(name)).facet;
}

void move_to_front(std::vector<PointAxis>& axes, std::initializer_list<std::string_view> keys) {
  std::ranges::stable_sort(axes, {}, [&](const PointAxis& axis) { return std::ranges::find(keys, axis.key()); });
}

std::vector<PointAxis> grouped_axes(std::span<const Knob> knobs = known_algorithms().knobs()) {
  std::vector<PointAxis> axes;
  axes.push_back({.facet = std::make_shared<const Facet>(Facet{.key = std::string(device_facet_key),
                                                               .label = msg::facet::device{},
                                                               .help = msg::facet_help::device{},
                                                               .encode = encode_devices})});
  for (const attnscope::Field& group : field_groups()) axes.push_back(axis_of(group));
  std::vector<attnscope::Field> alone = fields_and_knobs(point_fields(), knobs);
  std::erase_if(alone, [](const attnscope::Field& field) { return group_of(field.name) != nullptr; });
  // std::stable_partition, because clang 14 does not compile gcc 12's std::ranges::subrange.
  std::stable_partition(alone.begin(), alone.end(),
                        [](const auto& field) { return field.role != FieldRole::device_state; });
  for (const attnscope::Field& field : alone) axes.push_back(axis_of(field));
  move_to_front(axes, {device_facet_key, "algorithm", "n", "d", "pass", "mask", "dtype", "heads", "tile"});
  return axes;
}

std::vector<FacetPtr> facets_of(const std::vector<PointAxis>& axes) {
  std::vector<FacetPtr> facets;
  for (const PointAxis& axis : axes) {
    if (axis.key() != tile_facet()->key) facets.push_back(axis.facet);
  }
  return facets;
}

}  // namespace

std::span<const attnscope::Field> field_groups() {
  using attnscope::Field;
  static const std::array groups{
      Field{.name = "n",
            .label = message_of<msg::facet::n>,
            .help = message_of<msg::facet_help::n>,
            .type = FieldType::word,
            .parts = {field_name::n_q, field_name::n_k},
            .shown = FieldVisibility::always,
            .stem = "n",
            .order =
                [](const PointSpec& spec) {
                  // n_q = n_k sorts before other n_q.
                  const auto [n_q, n_k] = std::pair(spec.problem.n_q, spec.problem.n_k);
                  return static_cast<double>(n_k) + (n_q == n_k ? 0 : static_cast<double>(n_q) * 1e-9);
                },
            .get = [](const PointSpec& spec) -> attnscope::FieldValue { return lengths_text(spec.problem); }},
      Field{.name = "heads",
            .label = message_of<msg::facet::heads>,
            .help = message_of<msg::facet_help::heads>,
            .type = FieldType::word,
            .parts = {"batch", "heads_q", "heads_kv"},
            .shown = FieldVisibility::always,
            .order =
                [](const PointSpec& spec) {
                  const AttentionProblem& p = spec.problem;
                  return static_cast<double>(p.instances()) + static_cast<double>(p.batch) * 1e-6;
                },
            .in_title = [](std::string_view text) -> Message { return msg::facet::heads_count{.heads = text}; },
            .get = [](const PointSpec& spec) -> attnscope::FieldValue { return heads_text(spec.problem); }},
      Field{.name = "tile",
            .label = message_of<msg::facet::tile>,
            .help = message_of<msg::facet_help::tile>,
            .role = FieldRole::tile,
            .type = FieldType::word,
            .parts = {"br", "bc"},
            .shown = FieldVisibility::always,
            .order = [](const PointSpec& spec) { return spec.tile.br * 1e6 + spec.tile.bc; },
            .get = [](const PointSpec& spec) -> attnscope::FieldValue {
              return fmt::format("{} × {}", spec.tile.br, spec.tile.bc);
            }}};
  return groups;
}

const attnscope::Field* group_of(std::string_view field) {
  const auto all = field_groups();
  const auto found = std::ranges::find_if(
      all, [&](const attnscope::Field& group) { return std::ranges::find(group.parts, field) != group.parts.end(); });
  return found == all.end() ? nullptr : &*found;
}

std::vector<FacetPtr> curve_facets() {
  std::vector<PointAxis> axes = grouped_axes({});
  std::erase_if(axes, [](const PointAxis& axis) {
    return axis.key() == device_facet_key || axis.covers_field(field_name::algorithm) ||
           axis.covers_field(field_name::n_k);
  });
  axes.push_back({.facet = queries_facet()});
  move_to_front(axes, {"d", "pass", field_name::n_q, "mask", "dtype", "heads"});
  return facets_of(axes);
}

std::vector<FacetPtr> map_facets() {
  return facets_of(grouped_axes());
}

bool PointAxis::covers_field(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

std::vector<PointAxis> point_axes() {
  std::vector<PointAxis> axes = grouped_axes();
  for (const attnscope::Field& field : point_fields()) {
    if (group_of(field.name) == nullptr) continue;
    axes.push_back(axis_of(field));
    if (field.name != field_name::n_q) continue;
    // A number here, while the facet "n_q" shows "N" for n_q = n_k.
    Facet queries = *axes.back().facet;
    queries.key = "queries";
    axes.back().facet = std::make_shared<const Facet>(std::move(queries));
  }
  return axes;
}

const PointAxis* find_axis(std::span<const PointAxis> axes, std::string_view key) {
  const auto found = std::ranges::find_if(axes, [&](const PointAxis& axis) { return axis.key() == key; });
  return found == axes.end() ? nullptr : &*found;
}

std::vector<FacetPtr> fixed_facets(std::span<const PointAxis> axes) {
  const auto taken = [&](std::string_view name) {
    return std::ranges::any_of(axes, [&](const PointAxis& axis) { return axis.covers_field(name); });
  };
  std::vector<FacetPtr> facets;
  for (const PointAxis& group : grouped_axes()) {
    if (find_axis(axes, group.key()) != nullptr) continue;
    if (std::ranges::none_of(group.names, taken)) {
      facets.push_back(group.facet);
      continue;
    }
    for (const std::string& name : group.names) {
      if (!taken(name)) facets.push_back(single_field_facet(name));
    }
  }
  return facets;
}

std::vector<FacetPtr> all_map_facets() {
  std::vector<FacetPtr> facets;
  for (const PointAxis& group : grouped_axes()) {
    facets.push_back(group.facet);
    if (group.names.size() < 2) continue;
    for (const std::string& name : group.names) facets.push_back(single_field_facet(name));
  }
  return facets;
}

FacetPtr combined_facet(const PointAxis& a, const PointAxis& b) {
  const auto encode_both = [first = a.facet, second = b.facet](const PointTable& table) {
    const CodeColumn& x = table.codes(*first);
    const CodeColumn& y = table.codes(*second);
    const auto key_of = [&](Row row) { return std::uint64_t{x.codes[row]} * y.values.size() + y.codes[row]; };
    return encode(table, key_of, [&](Row row) {
      return FacetValue{static_cast<double>(key_of(row)),
                        fmt::format("{} | {}", x.values[x.codes[row]].id(), y.values[y.codes[row]].id())};
    });
  };
  return std::make_shared<const Facet>(
      Facet{fmt::format("{} | {}", a.key(), b.key()), a.facet->label, a.facet->help, encode_both});
}

FacetPtr key_length_facet() {
  static const FacetPtr facet = axis_of(*find_field(field_name::n_k)).facet;
  return facet;
}

FacetPtr tile_facet() {
  static const FacetPtr facet = axis_of(field_groups().back()).facet;
  return facet;
}

std::vector<std::uint64_t> combined_codes(const PointTable& table, std::span<const FacetPtr> facets) {
  std::vector<std::uint64_t> combined(table.size());
  std::uint64_t count = 1;  // exclusive upper bound of the codes
  for (const FacetPtr& facet : facets) {
    const CodeColumn& column = table.codes(*facet);
    const std::uint64_t values = std::max<std::uint64_t>(1, column.values.size());
    if (count > std::numeric_limits<std::uint64_t>::max() / values) {
      // Before an overflow, renumber the codes that occur.
      std::vector<std::uint64_t> known = combined;
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
      for (std::uint64_t& code : combined) {
        code = static_cast<std::uint64_t>(std::ranges::lower_bound(known, code) - known.begin());
      }
      count = known.size();
    }
    count *= values;
    for (std::size_t row = 0; row < combined.size(); ++row) {
      combined[row] = combined[row] * values + column.codes[row];
    }
  }
  return combined;
}

std::string heads_text(const AttentionProblem& problem) {
  std::string text = fmt::format("{} × {}", problem.batch, problem.heads_q);
  if (problem.heads_kv != problem.heads_q) text += fmt::format(" ({} KV)", problem.heads_kv);
  return text;
}

std::string lengths_text(const AttentionProblem& problem) {
  return problem.n_q == problem.n_k ? fmt::to_string(problem.n_k) : fmt::format("{} × {}", problem.n_q, problem.n_k);
}

std::string lower_label(std::string label) {
  if (label.size() > 2 && std::islower(static_cast<unsigned char>(label[1])) != 0) {
    label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
  }
  return label;
}

std::string localized_text(const FacetValue& value) {
  return value.text == auto_value ? text(msg::common::chosen{}) : value.text;
}

}  // namespace attnscope::analysis
