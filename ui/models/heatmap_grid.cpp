// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/heatmap_grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "kernels/algorithm.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"

namespace attnscope::ui {
namespace {

/// Place of a value among sorted grid values, between two of them in proportion to its logarithm.
double place_among(const std::vector<int>& values, double wanted) {
  const auto above = std::lower_bound(values.begin(), values.end(), wanted);
  const auto index = static_cast<double>(above - values.begin());
  if (above == values.end()) return static_cast<double>(values.size() - 1) + (wanted > values.back() ? 1 : 0);
  if (*above == wanted) return index;
  if (above == values.begin()) return -1;
  const double low = *(above - 1);
  const double high = *above;
  return index - 1 + std::log(wanted / low) / std::log(high / low);
}

int index_of(const std::vector<int>& values, int value) {
  return static_cast<int>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

QString HeatmapGrid::best_words() const {
  if (metric == metric_key::time_median_ns) return QStringLiteral("fastest");
  // Within a sentence; but DRAM and TFLOP/s stay as they are.
  const bool word = label.size() > 1 && label[1].isLower();
  return (better == Better::more ? QStringLiteral("highest ") : QStringLiteral("lowest ")) +
         (word ? label[0].toLower() + label.mid(1) : label);
}

HeatmapGrid build_heatmap(const std::vector<ShownPoint>& given, std::string_view metric) {
  std::vector<ShownPoint> points;
  std::ranges::copy_if(given, std::back_inserter(points),
                       [](const ShownPoint& point) { return tile_stated(point.spec().tile); });
  HeatmapGrid grid;
  grid.metric = std::string(metric);
  bool follows_clocks = false;
  if (const Metric* row = find_metric(metric)) {
    grid.label = metric_label(metric);
    grid.unit = std::string(row->unit);
    grid.better = row->better;
    follows_clocks = row->follows_clocks;
  }
  if (points.empty()) return grid;

  std::set<int> rows;
  std::set<int> columns;
  for (const ShownPoint& point : points) {
    rows.insert(point.spec().tile.br);
    columns.insert(point.spec().tile.bc);
  }
  grid.br.assign(rows.begin(), rows.end());
  grid.bc.assign(columns.begin(), columns.end());
  grid.cells.assign(grid.br.size(), std::vector<HeatmapCell>(grid.bc.size()));

  struct Samples {
    std::vector<double> values;
    std::vector<double> times;
  };
  std::map<std::pair<int, int>, Samples> samples;
  for (const ShownPoint& point : points) {
    const int row = index_of(grid.br, point.spec().tile.br);
    const int column = index_of(grid.bc, point.spec().tile.bc);
    HeatmapCell& cell = grid.cells[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    const Disposition disposition = point.record().disposition;
    if (!cell.disposition) ++grid.collected;
    // An ok point speaks for its tile, whatever came before or after it.
    if (!cell.disposition || *cell.disposition != Disposition::ok || disposition == Disposition::ok) {
      if (disposition == Disposition::ok && cell.disposition != Disposition::ok) ++grid.ok;
      cell.disposition = disposition;
      cell.source = point;
    }
    // Points without counters still have times, registers and the model.
    if (disposition != Disposition::ok && disposition != Disposition::no_counters) continue;
    Samples& collected = samples[{row, column}];
    if (const auto value = evaluate(metric, point.record())) {
      collected.values.push_back(value->value);
      cell.provenance = value->provenance;
      const auto& clocks = point.record().clocks;
      cell.throttled = cell.throttled || (follows_clocks && clocks && clocks->throttled);
    }
    if (const auto time = evaluate(metric_key::time_median_ns, point.record())) {
      collected.times.push_back(time->value);
    }
  }
  constexpr double never = std::numeric_limits<double>::infinity();
  double best_time = never;
  double time_of_best = never;
  for (const auto& [place, collected] : samples) {
    HeatmapCell& cell = grid.cells[static_cast<std::size_t>(place.first)][static_cast<std::size_t>(place.second)];
    if (const auto summary = summarize(collected.values)) {
      cell.value = summary->median;
      cell.repeats = static_cast<int>(summary->count);
      grid.minimum = std::min(grid.minimum.value_or(summary->median), summary->median);
      grid.maximum = std::max(grid.maximum.value_or(summary->median), summary->median);
    }
    const auto summary_of_times = summarize(collected.times);
    const double time = summary_of_times ? summary_of_times->median : never;
    const HeatmapGrid::Place here{place.first, place.second};
    if (time < best_time) {
      best_time = time;
      grid.fastest = here;
    }
    if (!cell.value || grid.better == Better::neither) continue;
    const std::optional<double> best = grid.best ? grid.at(*grid.best).value : std::nullopt;
    const bool same = best && *cell.value == *best;
    const bool better = !best || (grid.better == Better::less ? *cell.value < *best : *cell.value > *best);
    grid.alike = same ? grid.alike + 1 : better ? 1 : grid.alike;
    if (better || (same && time < time_of_best)) {
      grid.best = here;
      time_of_best = time;
    }
  }
  if (grid.minimum == grid.maximum) grid.best.reset();

  const ShownPoint& any = points.front();
  const AttentionProblem& problem = any.spec().problem;
  const std::int64_t m = any.run->summary.limits.sram_elements(bytes_per_element(problem.dtype));
  // The rule is of the algorithm whose passes the paper counts, and says something where the tile decides the traffic.
  const Algorithm* algorithm = find_algorithm(any.spec().algorithm);
  const bool ruled = algorithm != nullptr && algorithm->tile_decides_traffic() &&
                     algorithm->paper_count(problem, any.spec().tile).has_value();
  if (m > 0 && ruled) {
    PaperMark mark;
    mark.tile = paper_tile(m, problem.d);
    mark.column = place_among(grid.bc, static_cast<double>(mark.tile.bc));
    mark.row = place_among(grid.br, static_cast<double>(mark.tile.br));
    mark.inside = mark.column >= 0 && mark.column <= static_cast<double>(grid.bc.size()) - 1 && mark.row >= 0 &&
                  mark.row <= static_cast<double>(grid.br.size()) - 1;
    grid.paper = mark;
  }
  return grid;
}

}  // namespace attnscope::ui
