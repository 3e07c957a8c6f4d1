// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/facets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

#include "messages/facet.h"
#include "messages/facet_help.h"

namespace attnscope::analysis {
namespace {

/// Codes by order, then by what a value is known by.
void put_in_order(CodeColumn& column) {
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

/// Of keys of columns; which values come first does not matter, for they are put in order.
struct HashOfKeys {
  template <std::size_t count>
  std::size_t operator()(const std::array<std::uint64_t, count>& keys) const {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio (Knuth): every bit counts
    std::uint64_t hash = 0;
    for (const std::uint64_t key : keys) {
      hash = (hash ^ key) * golden;
      hash ^= hash >> 32U;
    }
    return hash;
  }
};

template <class Key>
struct KnownCodes {
  using Map = std::map<Key, std::uint32_t>;
};
template <std::size_t count>
struct KnownCodes<std::array<std::uint64_t, count>> {
  using Map = std::unordered_map<std::array<std::uint64_t, count>, std::uint32_t, HashOfKeys>;
};

/// `project` gives what is compared of a row, `describe` makes a FacetValue of the first row that has it.
template <class Project, class Describe>
CodeColumn encode(const PointTable& table, const Project& project, const Describe& describe) {
  using Key = std::decay_t<std::invoke_result_t<Project, Row>>;
  CodeColumn column;
  column.codes.reserve(table.size());
  typename KnownCodes<Key>::Map known;
  const typename KnownCodes<Key>::Map::value_type* last = nullptr;
  for (Row row = 0; row < table.size(); ++row) {
    decltype(auto) key = project(row);
    if (last == nullptr || last->first != key) {  // neighbours mostly agree
      const auto [place, first] = known.try_emplace(key, static_cast<std::uint32_t>(column.values.size()));
      if (first) column.values.push_back(describe(table, row));
      last = &*place;
    }
    column.codes.push_back(last->second);
  }
  put_in_order(column);
  return column;
}

using Encode = std::function<CodeColumn(const PointTable&)>;

template <class Project, class Describe>
Encode encoder(Project project, Describe describe) {
  return [project, describe](const PointTable& table) {
    return encode(
        table, [&](Row row) -> decltype(auto) { return project(table, row); }, describe);
  };
}

/// Of fields together: rows are told apart by all of them.
template <std::size_t count, class Describe>
Encode of_fields(std::array<std::string_view, count> names, Describe describe) {
  return [names, describe](const PointTable& table) {
    std::array<const FieldColumn*, count> columns{};
    std::ranges::transform(names, columns.begin(), [&](std::string_view name) { return &table.points().field(name); });
    const auto keys = [columns](Row row) {
      std::array<std::uint64_t, count> all{};
      std::ranges::transform(columns, all.begin(), [row](const FieldColumn* column) { return column->key(row); });
      return all;
    };
    return encode(table, keys, describe);
  };
}

template <class Describe>
Encode of_field(std::string_view name, Describe describe) {
  return of_fields(std::array{name}, describe);
}

/// Of a field that is a member of the problem: `text` makes a word of it, its number is the order.
template <class Member, class Text>
Encode of_problem(std::string_view name, Member AttentionProblem::*member, Text text) {
  return of_field(name, [member, text](const PointTable& table, Row row) {
    const auto value = table.problem(row).*member;
    return FacetValue{static_cast<double>(value), std::string(text(value))};
  });
}

Encode encoder_of_knob(const Knob& knob) {
  return [knob](const PointTable& table) {
    const PointColumns::KnobsColumn& given = table.points().knobs();
    std::vector<std::string> texts;  // by code
    for (const Knobs& knobs : given.values()) texts.push_back(knob_text(knob, knobs));
    const auto text_of = [&](Row row) -> std::string_view { return texts[given.code(row)]; };
    return encode(table, text_of, [&](const PointTable&, Row row) {
      std::string text(text_of(row));
      const auto place = std::ranges::find(knob.words, text) - knob.words.begin();
      std::ranges::replace(text, '_', ' ');
      if (!knob.words.empty()) return FacetValue{static_cast<double>(place), std::move(text)};
      const std::int64_t value = given[row].number(knob.name);
      return FacetValue{static_cast<double>(value), value > 0 ? std::move(text) : "auto"};
    });
  };
}

const auto as_text = [](auto value) { return fmt::to_string(value); };

FacetValue describe_mask(const PointTable& table, Row row) {
  const Mask mask = table.problem(row).mask;
  const double order = mask == Mask::none ? 0 : mask == Mask::causal ? 1 : mask.sparse() ? 4 : mask.padded() ? 3 : 2;
  std::string shown = mask_text(mask);
  std::string full = to_string(mask);
  if (mask == Mask::none || shown == full) full.clear();
  return {order, std::move(shown), std::move(full)};
}

/// By id: two GPUs of one name are two. A GPU goes without saying; what simulates it and what was told of it say so.
FacetValue describe_device(const PointTable& table, Row row) {
  const Run& run = table.run(row);
  const std::string title = device_title(table, table.run_index(row));
  const bool measured = run.provenance == Provenance::measured;
  return {measured ? 0 : static_cast<double>(run.provenance) + 1,
          measured ? title : fmt::format("{} {}", to_string(run.provenance), title)};
}

/// A facet with the fields that it speaks for.
struct Stated {
  Facet facet;
  std::vector<std::string_view> fields;
};

const std::vector<Stated>& stated_facets() {
  using Table = PointTable;
  // clang-format off
  static const std::vector<Stated> table{
      {{"device", say::facet::device{}, say::facet_help::device{},
        encoder([](const Table& t, Row r) { return std::tuple(t.run(r).provenance, std::string_view(t.run(r).device_name), std::string_view(t.run(r).device_id)); },
                describe_device)}, {}},
      {{"algorithm", say::facet::algorithm{}, say::facet_help::algorithm{},
        of_field("algorithm", [](const Table& t, Row r) {
          return FacetValue{static_cast<double>(t.algorithms().place(t.algorithm(r))), t.algorithm(r)};
        }), "", "", true}, {"algorithm"}},
      {{"n", say::facet::n{}, say::facet_help::n{},
        of_fields(std::array<std::string_view, 2>{"n_k", "n_q"}, [](const Table& t, Row r) {
          // Of as many queries as keys exactly N, which plots have on an axis.
          const double queries = t.n_q(r) == t.n_k(r) ? 0 : static_cast<double>(t.n_q(r)) * 1e-9;
          return FacetValue{static_cast<double>(t.n_k(r)) + queries, lengths_text(t.problem(r))};
        }), "n", "", true}, {"n_q", "n_k"}},
      {{"d", say::facet::d{}, say::facet_help::d{}, of_problem("d", &AttentionProblem::d, as_text), "d", "", true}, {"d"}},
      {{"pass", say::facet::pass{}, say::facet_help::pass{},
        of_problem("pass", &AttentionProblem::pass, [](Pass pass) { return to_string(pass); }), "", "fwd", false, true}, {"pass"}},
      {{"n_q", say::facet::n_q{}, say::facet_help::n_q{},
        encoder([](const Table& t, Row r) { return t.n_q(r) == t.n_k(r) ? 0 : t.n_q(r); },
                [](const Table& t, Row r) {
                  return t.n_q(r) == t.n_k(r) ? FacetValue{0, "N"} : FacetValue{static_cast<double>(t.n_q(r)), fmt::to_string(t.n_q(r))};
                }), "nq", "N", false, true}, {"n_q"}},
      {{"mask", say::facet::mask{}, say::facet_help::mask{},
        of_field("mask", describe_mask), "", "full"}, {"mask"}},
      {{"dtype", say::facet::dtype{}, say::facet_help::dtype{},
        of_problem("dtype", &AttentionProblem::dtype, [](DType dtype) { return to_string(dtype); }), "", "fp16"}, {"dtype"}},
      {{"heads", say::facet::heads{}, say::facet_help::heads{},
        of_fields(std::array<std::string_view, 3>{"batch", "heads_q", "heads_kv"}, [](const Table& t, Row r) {
          const AttentionProblem p = t.problem(r);
          return FacetValue{static_cast<double>(p.instances()) + static_cast<double>(p.batch) * 1e-6, heads_text(p)};
        }), "", "", true}, {"batch", "heads_q", "heads_kv"}},
      {{"cache", say::facet::cache{}, say::facet_help::cache{},
        of_field("cache", [](const Table& t, Row r) {
          const CacheState cache = t.spec(r).cache;
          return FacetValue{static_cast<double>(cache), std::string(to_string(cache))};
        }), "", "cold"}, {"cache"}},
      // What points of one curve and of one map differ in.
      {{"n_k", say::facet::n_k{}, say::facet_help::n_k{}, of_problem("n_k", &AttentionProblem::n_k, as_text)}, {"n_k"}},
      {{"tile", say::facet::tile{}, say::facet_help::tile{},
        of_fields(std::array<std::string_view, 2>{"br", "bc"}, [](const Table& t, Row r) {
          const TileShape& tile = t.tile_of(r).tile;
          return FacetValue{tile.br * 1e6 + tile.bc, fmt::format("{} × {}", tile.br, tile.bc)};
        })}, {"br", "bc"}},
  };
  // clang-format on
  return table;
}

FacetPtr stated(std::string_view key) {
  const auto& all = stated_facets();
  const auto found = std::ranges::find(all, key, [](const Stated& each) { return std::string_view(each.facet.key); });
  return {FacetPtr(), &found->facet};  // the table outlives all who ask
}

/// What the facet of a field says in other words than the field, which speaks to those who write axes.
struct Wording {
  std::string_view field;
  Message help;
  std::string_view usual = {};  ///< reads the value that goes without saying; empty: as the field prints it
  std::string_view stem = {};   ///< empty: the field's name and a hyphen
};

const std::vector<Wording>& wordings() {
  static const std::vector<Wording> all{
      {"dropout", say::facet_help::dropout{}, {}, "dropout"},
      {"page", say::facet_help::page{}, "contiguous", "page"},
      {"deterministic", say::facet_help::deterministic{}, {}, {}},
  };
  return all;
}

Wording wording_of(const attnscope::Field& field) {
  const auto own = std::ranges::find(wordings(), field.name, &Wording::field);
  Wording wording = own != wordings().end() ? *own : Wording{field.name, field.help()};
  if (wording.usual.empty()) wording.usual = field.fallback;
  return wording;
}

double order_of(const attnscope::FieldValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return 0;
}

/// A field as it states itself: as its name on the command line has it.
FacetPtr facet_of(const attnscope::Field& field) {
  const Wording wording = wording_of(field);
  const auto describe = [name = field.name, fallback = std::string(field.fallback), usual = std::string(wording.usual)](
                            const PointTable& table, Row row) {
    const attnscope::FieldValue value = table.points().field(name).value(row);
    const std::string text = attnscope::to_string(value);
    return FacetValue{order_of(value), text == fallback ? usual : text};
  };
  return std::make_shared<const Facet>(
      Facet{std::string(field.name), field.label(), wording.help, of_field(field.name, describe),
            wording.stem.empty() ? fmt::format("{}-", field.name) : std::string(wording.stem),
            std::string(wording.usual), false, true});
}

/// What the algorithms were told; words read without underscores, and a number that was left to the algorithm is
/// "auto".
FacetPtr facet_of(const Knob& knob) {
  std::string usual = knob.words.empty() ? "auto" : knob.words.front();
  std::ranges::replace(usual, '_', ' ');
  return std::make_shared<const Facet>(Facet{knob.name, knob.label, knob.meaning, encoder_of_knob(knob),
                                             knob.words.empty() ? knob.name : std::string(), std::move(usual)});
}

/// The fields that no stated facet speaks for, in the order of the table.
std::vector<FacetPtr> other_fields(std::span<const attnscope::Field> fields) {
  std::vector<FacetPtr> facets;
  for (const attnscope::Field& field : fields) {
    const bool spoken_for = std::ranges::any_of(stated_facets(), [&](const Stated& each) {
      return std::ranges::find(each.fields, field.name) != each.fields.end();
    });
    if (!spoken_for) facets.push_back(facet_of(field));
  }
  return facets;
}

void append(std::vector<FacetPtr>& facets, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) facets.push_back(stated(key));
}

bool is_number(const attnscope::Field& field) {
  return field.type == FieldType::integer || field.type == FieldType::real;
}

/// A field by itself, also where facets have it together with others. n_q is a number here, where the facet of that key
/// says "N" of as many queries as keys.
PointAxis single_axis(const attnscope::Field& field) {
  const auto& all = stated_facets();
  const auto own = std::ranges::find_if(
      all, [&](const Stated& each) { return each.facet.key != "n_q" && each.fields == std::vector{field.name}; });
  PointAxis axis{.facet = own != all.end() ? FacetPtr(FacetPtr(), &own->facet) : facet_of(field),
                 .names = {std::string(field.name)},
                 .number = is_number(field)};
  if (field.name == "n_q") {
    Facet queries = *axis.facet;
    queries.key = "queries";
    axis.facet = std::make_shared<const Facet>(std::move(queries));
  }
  return axis;
}

PointAxis stated_axis(std::string_view key, bool of_numbers) {
  const auto& all = stated_facets();
  const auto found = std::ranges::find(all, key, [](const Stated& each) { return std::string_view(each.facet.key); });
  PointAxis axis{.facet = stated(key), .number = of_numbers};
  for (const std::string_view name : found->fields) axis.names.emplace_back(name);
  return axis;
}

/// The choices of a map, in their order, each with its fields.
std::vector<PointAxis> grouped_axes(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<PointAxis> axes;
  for (const std::string_view key : {device_facet_key, std::string_view("algorithm"), std::string_view("n"),
                                     std::string_view("d"), std::string_view("pass"), std::string_view("mask"),
                                     std::string_view("dtype"), std::string_view("heads"), std::string_view("tile")}) {
    axes.push_back(stated_axis(key, key == "n" || key == "d"));
  }
  for (const FacetPtr& facet : other_fields(fields)) {
    const auto field = std::ranges::find(fields, facet->key, &attnscope::Field::name);
    axes.push_back({.facet = facet, .names = {facet->key}, .number = is_number(*field)});
  }
  for (const Knob& knob : algorithms.knobs()) {
    axes.push_back({.facet = facet_of(knob), .names = {knob.name}, .number = knob.words.empty()});
  }
  axes.push_back(stated_axis("cache", false));
  return axes;
}

}  // namespace

std::vector<FacetPtr> curve_facets(std::span<const attnscope::Field> fields) {
  std::vector<FacetPtr> facets;
  append(facets, {"d", "pass", "n_q", "mask", "dtype", "heads"});
  std::ranges::copy(other_fields(fields), std::back_inserter(facets));
  append(facets, {"cache"});
  return facets;
}

std::vector<FacetPtr> map_facets(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<FacetPtr> facets;
  append(facets, {"device", "algorithm", "n", "d", "pass", "mask", "dtype", "heads"});
  std::ranges::copy(other_fields(fields), std::back_inserter(facets));
  for (const Knob& knob : algorithms.knobs()) facets.push_back(facet_of(knob));
  append(facets, {"cache"});
  return facets;
}

bool PointAxis::speaks_for(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

std::vector<PointAxis> point_axes(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<PointAxis> axes = grouped_axes(algorithms, fields);
  for (const attnscope::Field& field : fields) {
    PointAxis single = single_axis(field);
    if (find_axis(axes, single.key()) == nullptr) axes.push_back(std::move(single));
  }
  return axes;
}

const PointAxis* find_axis(std::span<const PointAxis> axes, std::string_view key) {
  const auto found = std::ranges::find_if(axes, [&](const PointAxis& axis) { return axis.key() == key; });
  return found == axes.end() ? nullptr : &*found;
}

std::vector<FacetPtr> facets_beside(std::span<const PointAxis> axes, const Algorithms& algorithms,
                                    std::span<const attnscope::Field> fields) {
  const auto taken = [&](std::string_view name) {
    return std::ranges::any_of(axes, [&](const PointAxis& axis) { return axis.speaks_for(name); });
  };
  std::vector<FacetPtr> facets;
  for (const PointAxis& group : grouped_axes(algorithms, fields)) {
    if (find_axis(axes, group.key()) != nullptr) continue;
    if (std::ranges::none_of(group.names, taken)) {
      facets.push_back(group.facet);
      continue;
    }
    for (const std::string& name : group.names) {
      if (taken(name)) continue;
      // Beside n_k as many queries as keys are one choice.
      if (name == "n_q") {
        facets.push_back(stated("n_q"));
      } else {
        facets.push_back(single_axis(*std::ranges::find(fields, name, &attnscope::Field::name)).facet);
      }
    }
  }
  return facets;
}

std::vector<FacetPtr> all_map_facets(const Algorithms& algorithms, std::span<const attnscope::Field> fields) {
  std::vector<FacetPtr> facets;
  for (const PointAxis& group : grouped_axes(algorithms, fields)) {
    facets.push_back(group.facet);
    if (group.names.size() < 2) continue;
    for (const std::string& name : group.names) {
      if (name == "n_q") {
        facets.push_back(stated("n_q"));
      } else {
        facets.push_back(single_axis(*std::ranges::find(fields, name, &attnscope::Field::name)).facet);
      }
    }
  }
  return facets;
}

FacetPtr facet_of_both(const PointAxis& a, const PointAxis& b) {
  const auto encode_both = [first = a.facet, second = b.facet](const PointTable& table) {
    const CodeColumn& x = table.codes(*first);
    const CodeColumn& y = table.codes(*second);
    return encode(
        table, [&](Row row) { return std::pair(x.codes[row], y.codes[row]); },
        [&](const PointTable&, Row row) {
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
  return stated("n_k");
}

FacetPtr tile_facet() {
  return stated("tile");
}

std::vector<std::uint64_t> combined_codes(const PointTable& table, std::span<const FacetPtr> facets) {
  std::vector<std::uint64_t> combined(table.size());
  std::uint64_t count = 1;  // of the numbers that there can be
  for (const FacetPtr& facet : facets) {
    const CodeColumn& column = table.codes(*facet);
    const std::uint64_t values = std::max<std::uint64_t>(1, column.values.size());
    if (count > std::numeric_limits<std::uint64_t>::max() / values) {
      // Of those only as many occur as there are points: they are counted through.
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

std::string mask_text(const Mask& mask) {
  constexpr std::size_t longest_list = 4;
  const std::vector<std::int64_t>& lengths = mask.length_list;
  if (lengths.size() <= longest_list) return mask_title(mask);
  // A list of a whole batch would widen every control that shows it; count and sum still tell two of them apart.
  const std::string shortened =
      fmt::format("lengths:{}/{}/…/{} ({} lengths, {} keys)", lengths[0], lengths[1], lengths.back(), lengths.size(),
                  std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
  Mask shown = mask;
  shown.length_list = {1};
  std::string text = to_string(shown);
  constexpr std::string_view stand_in = "lengths:1";
  return text.replace(text.find(stand_in), stand_in.size(), shortened);
}

}  // namespace attnscope::analysis
