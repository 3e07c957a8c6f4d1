// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/facets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

#include "messages/common.h"
#include "messages/facet.h"
#include "messages/facet_help.h"

namespace attnscope::analysis {
namespace {

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
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    values.push_back(std::move(column.values[order[i]]));
  }
  column.values = std::move(values);
  for (std::uint32_t& code : column.codes) code = place[code];
}

/// Field keys of one row, zero-padded; groups have at most three fields.
using Keys = std::array<std::uint64_t, 3>;

/// The hash order does not matter, because values are sorted later.
struct KeysHash {
  std::size_t operator()(const Keys& keys) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio (Knuth)
    std::uint64_t hash = 0;
    for (const std::uint64_t key : keys) {
      hash = (hash ^ key) * golden;
      hash ^= hash >> 32U;
    }
    return hash;
  }
};

template <class Key>
using CodeMap = std::conditional_t<std::is_same_v<Key, Keys>, std::unordered_map<Keys, std::uint32_t, KeysHash>,
                                   std::map<Key, std::uint32_t>>;

/// Codes the rows by `project(row)`; `describe` makes the FacetValue of the first row with a key.
template <class Project, class Describe>
CodeColumn encode(const PointTable& table, const Project& project, const Describe& describe) {
  using Key = std::decay_t<std::invoke_result_t<Project, Row>>;
  CodeColumn column;
  column.codes.reserve(table.size());
  CodeMap<Key> known;
  const typename CodeMap<Key>::value_type* last = nullptr;
  for (Row row = 0; row < table.size(); ++row) {
    decltype(auto) key = project(row);
    if (last == nullptr || last->first != key) {  // adjacent rows are often equal
      const auto [place, first] = known.try_emplace(key, static_cast<std::uint32_t>(column.values.size()));
      if (first) column.values.push_back(describe(row));
      last = &*place;
    }
    column.codes.push_back(last->second);
  }
  sort_codes(column);
  return column;
}

/// Codes the rows by all named fields; `value` gets a point in which only these are set.
template <class Value>
CodeColumn encode_fields(const PointTable& table, std::span<const std::string_view> names, const Value& value) {
  std::vector<const FieldColumn*> columns;
  for (const std::string_view name : names) columns.push_back(&table.points().field(name));
  const auto keys = [&](Row row) {
    Keys all{};
    std::ranges::transform(columns, all.begin(), [row](const FieldColumn* column) { return column->key(row); });
    return all;
  };
  return encode(table, keys, [&](Row row) { return value(table.points().spec(row, names)); });
}

double order_of(const attnscope::Field& field, const PointSpec& spec, const Algorithms& algorithms) {
  if (field.role == FieldRole::algorithm) return static_cast<double>(algorithms.place(spec.algorithm));
  if (field.order != nullptr) return field.order(spec);
  const attnscope::FieldValue value = field.get(spec);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return static_cast<double>(std::ranges::find(field.words, std::get<std::string>(value)) - field.words.begin());
}

FacetValue value_of(const attnscope::Field& field, const PointSpec& spec, const Algorithms& algorithms) {
  FacetValue value{order_of(field, spec, algorithms), short_text(field, spec)};
  const std::string whole = field_text(field, spec);
  if (field.brief != nullptr && whole != value.text && whole != field.fallback) value.full = whole;
  return value;
}

CodeColumn encode_field(const attnscope::Field& field, const PointTable& table) {
  const auto value = [&](const PointSpec& spec) { return value_of(field, spec, table.algorithms()); };
  if (!field.parts.empty()) return encode_fields(table, field.parts, value);
  if (field.role != FieldRole::knob) return encode_fields(table, std::array{field.name}, value);
  const PointColumns::KnobsColumn& given = table.points().knobs();
  std::vector<std::string> texts;  // indexed by knobs code; several codes can have equal text
  PointSpec spec;
  for (const Knobs& knobs : given.values()) {
    spec.knobs = knobs;
    texts.push_back(field_text(field, spec));
  }
  return encode(
      table, [&](Row row) -> std::string_view { return texts[given.code(row)]; },
      [&](Row row) {
        spec.knobs = given[row];
        return value(spec);
      });
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
  const auto device = [&](Row row) {
    const Run& run = table.run(row);
    return std::tuple(run.provenance, std::string_view(run.device_name), std::string_view(run.device_id));
  };
  return encode(table, device, [&](Row row) {
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
    const auto queries = [&](Row row) { return table.n_q(row) == table.n_k(row) ? 0 : table.n_q(row); };
    return encode(table, queries, [&](Row row) {
      const std::int64_t count = queries(row);
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
FacetPtr single_field_facet(std::string_view name, std::span<const attnscope::Field> fields) {
  return name == field_name::n_q ? queries_facet()
                                 : axis_of(*std::ranges::find(fields, name, &attnscope::Field::name)).facet;
}

void move_to_front(std::vector<PointAxis>& axes, std::initializer_list<std::string_view> keys) {
  std::ranges::stable_sort(axes, {}, [&](const PointAxis& axis) { return std::ranges::find(keys, axis.key()); });
}

std::vector<PointAxis> grouped_axes(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<PointAxis> axes;
  axes.push_back({.facet = std::make_shared<const Facet>(Facet{.key = std::string(device_facet_key),
                                                               .label = msg::facet::device{},
                                                               .help = msg::facet_help::device{},
                                                               .encode = encode_devices})});
  for (const attnscope::Field& group : field_groups()) axes.push_back(axis_of(group));
  std::vector<attnscope::Field> alone = fields_and_knobs(fields, algorithms.knobs());
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

std::vector<FacetPtr> curve_facets(std::span<const attnscope::Field> fields) {
  std::vector<PointAxis> axes = grouped_axes(Algorithms(), fields);
  std::erase_if(axes, [](const PointAxis& axis) {
    return axis.key() == device_facet_key || axis.covers_field(field_name::algorithm) ||
           axis.covers_field(field_name::n_k);
  });
  axes.push_back({.facet = queries_facet()});
  move_to_front(axes, {"d", "pass", field_name::n_q, "mask", "dtype", "heads"});
  return facets_of(axes);
}

std::vector<FacetPtr> map_facets(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  return facets_of(grouped_axes(algorithms, fields));
}

bool PointAxis::covers_field(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

std::vector<PointAxis> point_axes(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<PointAxis> axes = grouped_axes(algorithms, fields);
  for (const attnscope::Field& field : fields) {
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

std::vector<FacetPtr> fixed_facets(std::span<const PointAxis> axes, const Algorithms& algorithms,
                                   std::span<const attnscope::Field> fields) {
  const auto taken = [&](std::string_view name) {
    return std::ranges::any_of(axes, [&](const PointAxis& axis) { return axis.covers_field(name); });
  };
  std::vector<FacetPtr> facets;
  for (const PointAxis& group : grouped_axes(algorithms, fields)) {
    if (find_axis(axes, group.key()) != nullptr) continue;
    if (std::ranges::none_of(group.names, taken)) {
      facets.push_back(group.facet);
      continue;
    }
    for (const std::string& name : group.names) {
      if (!taken(name)) facets.push_back(single_field_facet(name, fields));
    }
  }
  return facets;
}

std::vector<FacetPtr> all_map_facets(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<FacetPtr> facets;
  for (const PointAxis& group : grouped_axes(algorithms, fields)) {
    facets.push_back(group.facet);
    if (group.names.size() < 2) continue;
    for (const std::string& name : group.names) facets.push_back(single_field_facet(name, fields));
  }
  return facets;
}

FacetPtr combined_facet(const PointAxis& a, const PointAxis& b) {
  const auto encode_both = [first = a.facet, second = b.facet](const PointTable& table) {
    const CodeColumn& x = table.codes(*first);
    const CodeColumn& y = table.codes(*second);
    return encode(
        table, [&](Row row) { return std::pair(x.codes[row], y.codes[row]); },
        [&](Row row) {
          const double place = static_cast<double>(x.codes[row]) * static_cast<double>(y.values.size()) + y.codes[row];
          return FacetValue{place, fmt::format("{} | {}", x.values[x.codes[row]].id(), y.values[y.codes[row]].id())};
        });
  };
  return std::make_shared<const Facet>(
      Facet{fmt::format("{} | {}", a.key(), b.key()), a.facet->label, a.facet->help, encode_both});
}

std::vector<attnscope::Field> table_fields(const PointTable& table) {
  std::vector<attnscope::Field> fields;
  for (const FieldColumn& column : table.points().fields()) fields.push_back(column.field());
  return fields;
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
