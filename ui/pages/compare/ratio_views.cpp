// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/comparison_set.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "messages/compare_page.h"
#include "profiler/compare/compared_values.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::LeftOut;
using analysis::Verdict;

/// The values that these rows have of a facet, ascending, and the place of each by its code.
analysis::MapAxis side_of_map(const analysis::PointTable& table, const analysis::PointAxis& axis,
                              std::span<const Row> rows, std::map<std::uint32_t, int>& places) {
  const analysis::CodeColumn& column = table.codes(*axis.facet);
  std::set<std::uint32_t> codes;
  for (const Row row : rows) codes.insert(column.codes[row]);
  analysis::MapAxis side{.axis = axis, .values = {}};
  for (const std::uint32_t code : codes) {  // codes ascend as their values do
    places[code] = static_cast<int>(side.values.size());
    side.values.push_back(column.values[code]);
  }
  return side;
}

QStringList notes_of(const ComparisonSet& set, const ComparedPair& pair) {
  QStringList notes{qtext(say::compare_page::cell_verdict{.verdict = analysis::verdict_title(pair.verdict.verdict),
                                                          .interval = analysis::ratio_text(pair.verdict.time),
                                                          .rounds = pair.verdict.rounds})};
  const Message settle = analysis::settling_words(set.table(), pair, set.view.margin);
  if (!settle.empty()) notes << qtext(settle);
  return notes;
}

void fill_cell(const ComparisonSet& set, const ComparedPair& pair, HeatmapCell& cell, HeatmapGrid::Extra& extra) {
  const analysis::PointTable& table = set.table();
  cell.row = pair.other.front();
  cell.disposition = table.disposition(cell.row);
  cell.value = pair.verdict.time.ratio;
  cell.own = pair.other_ns;
  cell.over = pair.base_ns;
  cell.low = pair.verdict.time.interval.low;
  cell.high = pair.verdict.time.interval.high;
  cell.provenance = provenance_of(table, pair);
  cell.throttled = table.throttled(pair.other.front()) || table.throttled(pair.base.front());
  extra = {
      .hatched = pair.verdict.verdict == Verdict::ambiguous, .notes = notes_of(set, pair), .base = pair.base.front()};
}

void take_range(HeatmapGrid& grid) {
  for (const auto& line : grid.cells) {
    for (const HeatmapCell& cell : line) {
      if (cell.disposition) ++grid.collected;
      if (!cell.value) continue;
      ++grid.ok;
      grid.minimum = std::min(grid.minimum.value_or(*cell.value), *cell.value);
      grid.maximum = std::max(grid.maximum.value_or(*cell.value), *cell.value);
    }
  }
  if (grid.minimum) grid.colors = analysis::TileMap::Range{*grid.minimum, *grid.maximum};
}

}  // namespace

Provenance provenance_of(const analysis::PointTable& table, const ComparedPair& pair) {
  for (const Row row : {pair.other.front(), pair.base.front()}) {
    const Provenance origin = table.points().origin(row);
    if (origin != Provenance::measured) return origin;
  }
  return Provenance::derived;
}

std::vector<analysis::PointAxis> axes_of_pairs(const ComparisonSet& set, std::span<const Row> rows) {
  if (rows.empty()) return {};
  std::vector<analysis::PointAxis> axes = analysis::varying_axes(set.table(), rows);
  std::erase_if(axes, [&](const analysis::PointAxis& axis) {
    return axis.key() == analysis::device_facet_key || axis.key() == set.axis().key.toStdString() ||
           std::ranges::any_of(set.axis().names, [&](const std::string& name) { return axis.speaks_for(name); });
  });
  return axes;
}

bool is_failure(const LeftOut& left) {
  return left.why == LeftOut::Why::failed || left.why == LeftOut::Why::both_failed;
}

HeatmapGrid ratio_map(const ComparisonSet& set, std::size_t side, const analysis::MapLayout& layout,
                      std::span<const Row> rows) {
  const analysis::PointTable& table = set.table();
  HeatmapGrid grid;
  grid.points = set.points();
  grid.metric = metric_key::time_median_ns;
  grid.shown = {.metric = grid.metric, .as = analysis::Comparison::over_run, .run = 0};
  grid.unit = "1";
  grid.better = Better::less;
  grid.label = qtext(say::compare_page::map_label{});
  grid.over_words = set.base_name();
  if (rows.empty()) return grid;
  std::map<std::uint32_t, int> y_places;
  std::map<std::uint32_t, int> x_places;
  grid.y = side_of_map(table, layout.y, rows, y_places);
  grid.x = side_of_map(table, layout.x, rows, x_places);
  grid.cells.assign(grid.y.size(), std::vector<HeatmapCell>(grid.x.size()));
  grid.extras.assign(grid.y.size(), std::vector<HeatmapGrid::Extra>(grid.x.size()));
  const analysis::CodeColumn& y = table.codes(*layout.y.facet);
  const analysis::CodeColumn& x = table.codes(*layout.x.facet);
  const std::set<Row> shown(rows.begin(), rows.end());
  std::map<std::pair<int, int>, double> base_of;
  for (const ComparedPair& pair : set.view.sides[side]->result.pairs) {
    const Row row = pair.other.front();
    if (!shown.contains(row)) continue;
    const std::pair place{y_places[y.codes[row]], x_places[x.codes[row]]};
    const auto [known, first] = base_of.try_emplace(place, pair.base_ns);
    if (!first && known->second <= pair.base_ns) continue;
    known->second = pair.base_ns;
    const auto [at_row, at_column] =
        std::pair(static_cast<std::size_t>(place.first), static_cast<std::size_t>(place.second));
    fill_cell(set, pair, grid.cells[at_row][at_column], grid.extras[at_row][at_column]);
  }
  for (const bool of_other : {true, false}) {
    for (const LeftOut& left : set.view.sides[side]->result.left_out) {
      const Row row = left.rows.front();
      if (left.of_other != of_other || !is_failure(left) || !shown.contains(row)) continue;
      const auto at_row = static_cast<std::size_t>(y_places[y.codes[row]]);
      const auto at_column = static_cast<std::size_t>(x_places[x.codes[row]]);
      HeatmapCell& cell = grid.cells[at_row][at_column];
      if (cell.disposition) continue;
      cell.row = row;
      cell.disposition = table.disposition(row);
      const std::string name = (of_other ? set.name_of(side) : set.base_name()).toStdString();
      grid.extras[at_row][at_column].notes
          << (left.why == LeftOut::Why::both_failed ? qtext(say::compare_page::cell_both_failed{})
                                                    : qtext(say::compare_page::cell_failed{.side = name}));
    }
  }
  take_range(grid);
  return grid;
}

RatioCurves ratio_curves(const std::shared_ptr<const ComparisonSet>& set, const analysis::PointAxis& x,
                         std::span<const Row> rows, const QString& problem) {
  const analysis::PointTable& table = set->table();
  const analysis::CodeColumn& column = table.codes(*x.facet);
  const std::set<Row> shown(rows.begin(), rows.end());
  RatioCurves result{.set = set, .x = x, .problem = problem, .curves = {}};
  // One baseline for all: at each place the point of it that is the fastest, as far as a side was compared with it.
  std::map<double, std::pair<double, Row>> base_at;
  for (std::size_t side = 0; side < set->view.sides.size(); ++side) {
    RatioCurve curve{.name = set->name_of(side), .points = {}};
    for (const ComparedPair& pair : set->view.sides[side]->result.pairs) {
      const Row row = pair.other.front();
      if (!shown.contains(row)) continue;
      const double at = column.values[column.codes[row]].order;
      const std::pair base(pair.base_ns, pair.base.front());
      const auto [known, first] = base_at.try_emplace(at, base);
      if (!first) known->second = std::min(known->second, base);
      curve.points.push_back({.x = at, .pair = &pair});
      curve.simulated_ratio = curve.simulated_ratio || is_simulated(provenance_of(table, pair));
      curve.simulated = curve.simulated || is_simulated(table.points().origin(row));
    }
    if (!curve.points.empty()) result.curves.push_back(std::move(curve));
  }
  for (RatioCurve& curve : result.curves) {
    // Of several at one place the one of that baseline, else of the fastest.
    std::ranges::stable_sort(curve.points, {}, [&](const RatioPoint& at) {
      return std::tuple(at.x, at.pair->base.front() != base_at.at(at.x).second, at.pair->base_ns);
    });
    const auto at_one_place = [](const RatioPoint& a, const RatioPoint& b) { return a.x == b.x; };
    curve.points.erase(std::unique(curve.points.begin(), curve.points.end(), at_one_place), curve.points.end());
  }
  return result;
}

}  // namespace attnscope::ui
