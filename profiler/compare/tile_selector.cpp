// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/tile_selector.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/tile_table.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"
#include "profiler/points/row_keys.h"

namespace attnscope::analysis {

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
