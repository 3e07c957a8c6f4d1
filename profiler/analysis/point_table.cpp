// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/point_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "profiler/analysis/facets.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

auto order_of(const Config& config) {
  return std::tuple(config.tile.br, config.tile.bc, describe(config.knobs));
}

struct TileOrder {
  bool operator()(const Config& a, const Config& b) const { return order_of(a) < order_of(b); }
};

}  // namespace

PointTable::PointTable(Algorithms algorithms, std::vector<Run> runs, std::span<const PointRef> points)
    : algorithms_(std::move(algorithms)), runs_(std::move(runs)) {
  run_of_.reserve(points.size());
  records_.reserve(points.size());
  n_q_.reserve(points.size());
  n_k_.reserve(points.size());
  dispositions_.reserve(points.size());
  std::set<Config, TileOrder> tiles;
  for (const PointRef& point : points) {
    const PointSpec& spec = point.record->spec;
    run_of_.push_back(point.run);
    records_.push_back(point.record);
    n_q_.push_back(spec.problem.n_q);
    n_k_.push_back(spec.problem.n_k);
    dispositions_.push_back(point.record->disposition);
    tiles.insert(spec.config());
  }
  tiles_.assign(tiles.begin(), tiles.end());
  tile_codes_.reserve(points.size());
  for (const PointRef& point : points) {
    const auto place = std::lower_bound(tiles_.begin(), tiles_.end(), point.record->spec.config(), TileOrder{});
    tile_codes_.push_back(static_cast<std::uint32_t>(place - tiles_.begin()));
  }
}

std::vector<Row> PointTable::rows() const {
  std::vector<Row> all(size());
  std::iota(all.begin(), all.end(), Row{0});
  return all;
}

std::uint8_t ValueColumn::compute(Row row) const {
  const std::optional<MetricValue> value = evaluate_(*records_[row]);
  values_[row] = value ? value->value : 0;
  origins_[row] = value ? static_cast<std::uint8_t>(value->provenance) : absent;
  return origins_[row];
}

const ValueColumn& PointTable::values(std::string_view metric) const {
  if (const auto found = values_.find(metric); found != values_.end()) return found->second;
  ValueColumn column(records_, [key = std::string(metric)](const PointRecord& point) { return evaluate(key, point); });
  return values_.emplace(metric, std::move(column)).first->second;
}

const ValueColumn& PointTable::dram_traffic() const {
  if (!dram_traffic_) {
    dram_traffic_ = ValueColumn(records_, [](const PointRecord& point) { return attnscope::dram_traffic(point); });
  }
  return *dram_traffic_;
}

const CodeColumn& PointTable::codes(const Facet& facet) const {
  if (const auto found = codes_.find(facet.key); found != codes_.end()) return found->second;
  return codes_.emplace(facet.key, facet.encode(*this)).first->second;
}

bool newer(const PointTable& table, RunIndex a, RunIndex b) {
  return std::tie(table.runs()[a].started_at, a) > std::tie(table.runs()[b].started_at, b);
}

std::string device_title(const PointTable& table, RunIndex index) {
  constexpr std::string_view vendor = "NVIDIA ";
  constexpr std::string_view id_prefix = "GPU-";
  constexpr std::size_t telling = 8;
  const Run& run = table.runs()[index];
  std::string_view name = run.device_name;
  if (name.starts_with(vendor)) name.remove_prefix(vendor.size());
  const bool ambiguous = std::ranges::any_of(table.runs(), [&](const Run& other) {
    return other.provenance == run.provenance && other.device_name == run.device_name &&
           other.device_id != run.device_id;
  });
  if (!ambiguous) return std::string(name);
  std::string_view id = run.device_id;
  if (id.starts_with(id_prefix)) id.remove_prefix(id_prefix.size());
  return fmt::format("{} ({})", name, id.substr(0, telling));
}

std::vector<std::vector<std::size_t>> disjoint_groups(std::span<const std::vector<std::int64_t>> places) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::set<std::int64_t>> taken;
  for (std::size_t run = 0; run < places.size(); ++run) {
    std::size_t group = 0;
    while (group < groups.size() &&
           std::ranges::any_of(places[run], [&](std::int64_t place) { return taken[group].contains(place); })) {
      ++group;
    }
    if (group == groups.size()) {
      groups.emplace_back();
      taken.emplace_back();
    }
    groups[group].push_back(run);
    taken[group].insert(places[run].begin(), places[run].end());
  }
  return groups;
}

}  // namespace attnscope::analysis
