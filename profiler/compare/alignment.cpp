// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/alignment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/tile_table.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/points/row_keys.h"

namespace attnscope::analysis {

namespace {

constexpr std::array<std::string_view, 2> tile_names{"br", "bc"};
constexpr std::string_view algorithm_name = "algorithm";

bool of_problem(std::string_view field) {
  return field != algorithm_name && std::ranges::find(tile_names, field) == tile_names.end();
}

bool share_gpu(const PointTable& table, std::span<const Row> base, std::span<const Row> other) {
  std::array<std::set<std::string_view>, 2> names;
  for (const Row row : base) names[0].insert(table.run(row).device_name);
  for (const Row row : other) names[1].insert(table.run(row).device_name);
  return std::ranges::any_of(names[0], [&](std::string_view one) {
    return std::ranges::any_of(names[1], [&](std::string_view two) { return same_gpu(one, two); });
  });
}

bool share_tile(const PointTable& table, std::span<const Row> base, std::span<const Row> other) {
  const std::array keys{key_of_field(table, algorithm_name), key_of_extents(table)};
  const RowGroups groups(keys, base, other);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (std::ranges::none_of(groups[group], &std::span<const Row>::empty)) return true;
  }
  return false;
}

bool is_device_state(std::string_view field) {
  const Field* found = find_field(field);
  return found != nullptr && found->role == FieldRole::device_state;
}

/// Returns true if no row states the L2's state (imports).
bool has_unknown_l2(const PointTable& table, std::span<const Row> rows) {
  const FieldColumn& cache = table.points().field("cache");
  return std::ranges::all_of(rows, [&](Row row) { return cache.text_value(row) == to_string(CacheState::unknown); });
}

/// Adds the fields of the problem. An L2 state that one side does not state matches any.
void add_problem(const PointTable& table, std::span<const Row> base, std::span<const Row> other, Alignment& alignment) {
  const bool skips_state = has_unknown_l2(table, base) != has_unknown_l2(table, other);
  for (const FieldColumn& column : table.points().fields()) {
    const std::string_view name = column.field().name;
    if (of_problem(name) && !(skips_state && is_device_state(name))) alignment.fields.emplace_back(name);
  }
}

Alignment shared_alignment(const PointTable& table, std::span<const Row> base, std::span<const Row> other,
                           std::optional<ComparedTiles> tiles) {
  Alignment alignment;
  add_problem(table, base, other, alignment);
  if (have_common_key(key_of_field(table, algorithm_name), base, other)) alignment.fields.emplace_back(algorithm_name);
  alignment.device = have_common_key(key_of_device(table), base, other);
  const bool equal = share_gpu(table, base, other) && share_tile(table, base, other);
  alignment.tiles = tiles.value_or(equal ? ComparedTiles::equal : ComparedTiles::best);
  if (alignment.tiles != ComparedTiles::equal) return alignment;
  alignment.fields.insert(alignment.fields.end(), tile_names.begin(), tile_names.end());
  alignment.all_knobs = tiles.has_value() || have_common_key(key_of_knobs(table), base, other);
  return alignment;
}

/// Applies the choice to an alignment whose keys the user named.
Result<Alignment, Message> with_tiles(Alignment alignment, std::optional<ComparedTiles> tiles, bool one_gpu) {
  const bool named = alignment.all_knobs || !alignment.knobs.empty() ||
                     std::ranges::any_of(alignment.fields, [](const std::string& field) {
                       return std::ranges::find(tile_names, field) != tile_names.end();
                     });
  if (tiles == ComparedTiles::equal) {
    for (const std::string_view name : tile_names) {
      if (std::ranges::find(alignment.fields, name) == alignment.fields.end()) alignment.fields.emplace_back(name);
    }
    alignment.all_knobs = true;
  } else if (tiles && named) {
    return Failure{
        make_message("--align with tile or knobs compares equal ones; omit them or --tiles {}", to_string(*tiles))};
  }
  alignment.tiles = tiles.value_or(!one_gpu && !named ? ComparedTiles::best : ComparedTiles::any);
  return alignment;
}

}  // namespace

std::vector<std::string> Alignment::keywords() const {
  const auto has = [&](std::string_view name) { return std::ranges::find(fields, name) != fields.end(); };
  const bool problem = std::ranges::all_of(point_fields(), [&](const Field& field) {
    return !of_problem(field.name) || is_device_state(field.name) || has(field.name);
  });
  const bool tile = std::ranges::all_of(tile_names, has);
  std::vector<std::string> result;
  if (problem) result.emplace_back("problem");
  for (const std::string& field : fields) {
    const bool of_tile = std::ranges::find(tile_names, field) != tile_names.end();
    if (!(problem && of_problem(field)) && !(tile && of_tile)) result.push_back(field);
  }
  if (tile) result.emplace_back("tile");
  result.insert(result.end(), knobs.begin(), knobs.end());
  if (all_knobs) result.emplace_back("knobs");
  if (device) result.emplace_back("device");
  return result;
}

std::string_view to_string(ComparedTiles tiles) {
  constexpr std::array<std::string_view, 4> names{"any", "equal", "best", "automatic"};
  return names.at(static_cast<std::size_t>(tiles));
}

std::optional<ComparedTiles> parse_compared_tiles(std::string_view word) {
  const auto found = std::ranges::find(tile_choices, word, [](ComparedTiles tiles) { return to_string(tiles); });
  return found == tile_choices.end() ? std::nullopt : std::optional(*found);
}

Result<Alignment, Message> parse_alignment(std::span<const std::string> words, const PointTable& table,
                                           std::span<const Row> base, std::span<const Row> other,
                                           std::optional<ComparedTiles> tiles) {
  if (words.empty()) return shared_alignment(table, base, other, tiles);
  std::set<std::uint32_t> kinds;
  for (const std::span<const Row> rows : {base, other}) {
    for (const Row row : rows) kinds.insert(table.points().knobs().code(row));
  }
  std::set<std::string> knobs;
  for (const std::uint32_t kind : kinds) {
    for (const Knobs::Entry& knob : table.points().knobs().values()[kind]) knobs.insert(knob.first);
  }
  Alignment alignment;
  std::vector<std::string> known{"problem", "tile", "knobs", "device", "N"};
  for (const FieldColumn& column : table.points().fields()) known.emplace_back(column.field().name);
  known.insert(known.end(), knobs.begin(), knobs.end());
  bool narrowed = false;
  std::vector<std::string> fields;
  for (const std::string& given : words) {
    const std::string word = lower_case(given);
    if (word == "problem") {
      add_problem(table, base, other, alignment);
      narrowed = true;
    } else if (word == "tile") {
      fields.insert(fields.end(), tile_names.begin(), tile_names.end());
    } else if (word == "knobs") {
      alignment.all_knobs = true;
    } else if (word == "device") {
      alignment.device = true;
    } else if (word == "n") {
      fields.insert(fields.end(), {"n_q", "n_k"});
      narrowed = true;
    } else if (const std::string name = word == "algo" ? std::string(algorithm_name) : word;
               find_field(name) != nullptr) {
      fields.push_back(name);
      narrowed = narrowed || of_problem(name);
    } else if (knobs.contains(word)) {
      alignment.knobs.push_back(word);
    } else {
      const std::vector<std::string> near = closest_matches(given, known);
      return Failure{make_message("--align: unknown key '{}' (choose from: {})", given,
                                  fmt::join(near.empty() ? known : near, ", "))};
    }
  }
  if (!narrowed) add_problem(table, base, other, alignment);
  for (std::string& field : fields) {
    if (std::ranges::find(alignment.fields, field) == alignment.fields.end()) alignment.fields.push_back(field);
  }
  return with_tiles(std::move(alignment), tiles, share_gpu(table, base, other));
}

Alignment infer_alignment(const PointTable& table, std::span<const Row> base, std::span<const Row> other) {
  Alignment alignment;
  for (const FieldColumn& column : table.points().fields()) {
    const std::string_view name = column.field().name;
    if (have_equal_keys(key_of_field(table, name), base, other)) alignment.fields.emplace_back(name);
  }
  alignment.all_knobs = have_equal_keys(key_of_knobs(table), base, other);
  alignment.device = have_equal_keys(key_of_device(table), base, other);
  return alignment;
}

std::vector<std::string> fields_without_tile(const PointTable& table) {
  std::vector<std::string> names;
  for (const FieldColumn& column : table.points().fields()) {
    if (column.field().role != FieldRole::tile) names.emplace_back(column.field().name);
  }
  return names;
}

TileSelector::TileSelector(const PointTable& table, ComparedTiles tiles, std::span<const Row> base,
                           std::span<const Row> other)
    : table_(table), tiles_(tiles) {
  if (tiles != ComparedTiles::automatic) return;
  std::vector<RowKey> keys{[&table](Row row) { return table.run_index(row); }};
  for (const std::string& field : fields_without_tile(table)) {
    if (field != field_name::n_q && field != field_name::n_k) keys.push_back(key_of_field(table, field));
  }
  const RowGroups curves(keys, base, other);
  for (std::size_t curve = 0; curve < curves.size(); ++curve) {
    for (const std::span<const Row> rows : curves[curve]) {
      if (rows.empty()) continue;
      const Row longest = *std::ranges::max_element(rows, {}, [&](Row row) { return table.n_k(row); });
      for (const Row row : rows) longest_.emplace(row, longest);
    }
  }
}

std::vector<Row> TileSelector::candidates(std::span<const Row> rows) const {
  std::vector<Row> found(rows.begin(), rows.end());
  if (tiles_ != ComparedTiles::automatic || rows.empty() || !differ_only_in_tile(rows)) return found;
  const DeviceLimits& limits = table_.run(rows.front()).limits;
  const Algorithm* algorithm = limits.sm_count > 0 ? table_.algorithms().find(table_.algorithm(rows.front())) : nullptr;
  for (const Row of_problem : {rows.front(), longest_.at(rows.front())}) {
    std::optional<Config> tile;
    if (algorithm != nullptr) tile = auto_config(*algorithm, table_.problem(of_problem), limits);
    found.clear();
    std::ranges::copy_if(rows, std::back_inserter(found), [&](Row row) {
      const Config& config = table_.tile_of(row);
      return !has_tile(config.tile) || (tile && config == *tile);
    });
    if (!found.empty()) break;
  }
  return found;
}

std::size_t TileSelector::keep_best(std::vector<Row>& rows) const {
  if (tiles_ != ComparedTiles::best || rows.empty() || !differ_only_in_tile(rows)) return 0;
  const ValueColumn& column = table_.values(metric_key::time_median_ns);
  std::map<std::uint32_t, std::vector<double>> times;
  for (const Row row : rows) times[table_.tile_code(row)].push_back(column.value(row));
  const auto median = [](const auto& entry) { return summarize(entry.second)->median; };
  const std::uint32_t best = std::ranges::min_element(times, {}, median)->first;
  std::erase_if(rows, [&](Row row) { return table_.tile_code(row) != best; });
  return times.size();
}

bool TileSelector::differ_only_in_tile(std::span<const Row> rows) const {
  const Row first = rows.front();
  return std::ranges::all_of(rows.subspan(1), [&](Row row) {
    return table_.run(row).device_name == table_.run(first).device_name &&
           table_.points().origin(row) == table_.points().origin(first) &&
           std::ranges::all_of(table_.points().fields(), [&](const FieldColumn& column) {
             return column.field().role == FieldRole::tile || column.key(row) == column.key(first);
           });
  });
}

}  // namespace attnscope::analysis
