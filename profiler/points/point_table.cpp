// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/point_table.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"

namespace attnscope::analysis {

std::string short_title(const Registry& algorithms, std::string_view name) {
  const Algorithm* ours = algorithms.find(name);
  return ours == nullptr ? std::string(name) : ours->facts().short_title;
}

PointTable::PointTable(std::vector<Run> runs, PointColumns points, std::vector<RunIndex> run_of)
    : runs_(std::move(runs)),
      run_of_(std::move(run_of)),
      points_(std::make_unique<const PointColumns>(std::move(points))),
      algorithm_(&points_->field("algorithm")),
      n_q_(&points_->field("n_q")),
      n_k_(&points_->field("n_k")) {
  index_tiles();
}

void PointTable::index_tiles() {
  const FieldColumn& br = points_->field("br");
  const FieldColumn& bc = points_->field("bc");
  const PointColumns::KnobsColumn& knobs = points_->knobs();
  std::vector<std::string> knob_texts;  // knob text, indexed by knobs code
  for (const Knobs& each : knobs.values()) knob_texts.push_back(describe(each));
  using Tile = std::tuple<std::int64_t, std::int64_t, std::string_view, std::uint32_t>;
  std::map<Tile, std::uint32_t> codes;
  std::vector<std::map<Tile, std::uint32_t>::iterator> of_row;
  of_row.reserve(size());
  for (Row row = 0; row < size(); ++row) {
    const std::uint32_t code = knobs.code(row);
    of_row.push_back(codes.try_emplace({br.number(row), bc.number(row), knob_texts[code], code}).first);
  }
  for (auto& [tile, code] : codes) {
    code = static_cast<std::uint32_t>(tiles_.size());
    tiles_.emplace_back(TileShape{static_cast<int>(std::get<0>(tile)), static_cast<int>(std::get<1>(tile))},
                        knobs.values()[std::get<3>(tile)]);
  }
  tile_codes_.reserve(size());
  for (const auto& place : of_row) tile_codes_.push_back(place->second);
}

RunIndex PointTableBuilder::add_run(Run run) {
  runs_.push_back(std::move(run));
  return static_cast<RunIndex>(runs_.size() - 1);
}

void PointTableBuilder::add(RunIndex run, const PointRecord& record, std::size_t place, std::int64_t id) {
  points_.add(record, place, id);
  run_of_.push_back(run);
}

void PointTableBuilder::add(RunIndex run, const PointColumns& from, std::span<const Row> rows) {
  points_.add(from, rows);
  run_of_.resize(run_of_.size() + rows.size(), run);
}

PointTable PointTableBuilder::finish() && {
  struct Count {
    std::size_t ran = 0;
    std::size_t throttled = 0;
  };
  std::vector<Count> counts(runs_.size());
  for (Row row = 0; row < points_.size(); ++row) {
    if (points_.disposition(row) != Disposition::ok) continue;
    Count& count = counts[run_of_[row]];
    ++count.ran;
    if (points_.throttled(row)) ++count.throttled;
  }
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (!runs_[run].mostly_throttled) runs_[run].mostly_throttled = 2 * counts[run].throttled > counts[run].ran;
  }
  return {std::move(runs_), std::move(points_), std::move(run_of_)};
}

std::vector<Row> PointTable::rows() const {
  std::vector<Row> all(size());
  std::iota(all.begin(), all.end(), Row{0});
  return all;
}

std::uint8_t ValueColumn::compute(Row row) const {
  const std::optional<RowKernel> sum = points_->sum(row);
  const std::optional<EvaluatedMetric> value = !sum              ? std::nullopt
                                               : metric_.empty() ? attnscope::dram_traffic(*sum)
                                                                 : evaluate(metric_, *sum);
  const std::uint8_t origin = value ? static_cast<std::uint8_t>(value->provenance) : absent;
  std::atomic_ref(values_[row]).store(value ? value->value : 0, std::memory_order_relaxed);
  std::atomic_ref(origins_[row]).store(origin, std::memory_order_release);
  return origin;
}

const ValueColumn& PointTable::values(std::string_view metric) const {
  const std::lock_guard lock(*creation_mutex_);
  if (const auto found = values_.find(metric); found != values_.end()) return found->second;
  return values_.emplace(metric, ValueColumn(*points_, metric)).first->second;
}

void ValueColumn::take(const ValueColumn& from, std::span<const Row> rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::uint8_t known = std::atomic_ref(from.origins_[rows[row]]).load(std::memory_order_acquire);
    origins_[row] = known;
    if (known != unknown && known != absent) values_[row] = from.stored_value(rows[row]);
  }
}

void PointTable::copy_known_values(const PointTable& from, std::span<const Row> rows) {
  // Existing columns do not move; the lock is needed only to find them.
  std::vector<std::pair<std::string, const ValueColumn*>> columns;
  {
    const std::lock_guard lock(*from.creation_mutex_);
    for (const auto& [metric, column] : from.values_) columns.emplace_back(metric, &column);
  }
  for (const auto& [metric, column] : columns) {
    values_.emplace(metric, ValueColumn(*points_, metric)).first->second.take(*column, rows);
  }
}

const CodeColumn& PointTable::codes(const Facet& facet) const {
  {
    const std::lock_guard lock(*creation_mutex_);
    if (const auto found = codes_.find(facet.key); found != codes_.end()) return found->second;
  }
  // Encodes without the lock, because it is slow and may access other columns. If two threads encode, the first result
  // is kept.
  CodeColumn made = facet.encode(*this);
  const std::lock_guard lock(*creation_mutex_);
  return codes_.emplace(facet.key, std::move(made)).first->second;
}

TableSubset extract_rows(const PointTable& all, std::span<const Row> rows) {
  PointTableBuilder builder;
  std::vector<RunIndex> runs;
  std::map<RunIndex, RunIndex> now;
  for (std::span<const Row> rest = rows; !rest.empty();) {
    const RunIndex run = all.run_index(rest.front());
    const auto end = std::ranges::find_if(rest, [&](Row row) { return all.run_index(row) != run; });
    const auto of_run = rest.first(static_cast<std::size_t>(end - rest.begin()));
    const auto [place, fresh] = now.try_emplace(run, static_cast<RunIndex>(runs.size()));
    if (fresh) {
      runs.push_back(run);
      builder.add_run(all.runs()[run]);
    }
    builder.add(place->second, all.points(), of_run);
    rest = rest.subspan(of_run.size());
  }
  PointTable table = std::move(builder).finish();
  table.copy_known_values(all, rows);
  return {std::move(table), std::move(runs)};
}

bool is_newer(const PointTable& table, RunIndex a, RunIndex b) {
  return std::tie(table.runs()[a].started_at, a) > std::tie(table.runs()[b].started_at, b);
}

namespace {

/// Returns true if the runs' devices have the same name and provenance but different ids.
bool has_same_name(const Run& run, const Run& other) {
  return other.provenance == run.provenance && other.device_name == run.device_name && other.device_id != run.device_id;
}

std::string title_of(const Run& run, bool ambiguous) {
  constexpr std::string_view vendor = "NVIDIA ";
  constexpr std::string_view id_prefix = "GPU-";
  constexpr std::size_t id_digits = 8;
  std::string_view name = run.device_name;
  if (name.starts_with(vendor)) name.remove_prefix(vendor.size());
  if (!ambiguous) return std::string(name);
  std::string_view id = run.device_id;
  if (id.starts_with(id_prefix)) id.remove_prefix(id_prefix.size());
  return fmt::format("{} ({})", name, id.substr(0, id_digits));
}

}  // namespace

std::string device_title(const PointTable& table, RunIndex index) {
  const Run& run = table.runs()[index];
  if (!run.device.empty()) return run.device;
  return title_of(run, std::ranges::any_of(table.runs(), [&](const Run& other) { return has_same_name(run, other); }));
}

void name_devices(std::span<Run> runs) {
  // Comparing each run only with the first of its name keeps this linear.
  std::map<std::pair<Provenance, std::string_view>, std::pair<const Run*, bool>> first_of;
  for (const Run& run : runs) {
    auto& [first, shared] = first_of.try_emplace({run.provenance, run.device_name}, &run, false).first->second;
    shared = shared || has_same_name(run, *first);
  }
  for (Run& run : runs) {
    if (run.device_name.empty()) continue;
    run.device = title_of(run, first_of.at({run.provenance, run.device_name}).second);
  }
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
