// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/heatmap_grid.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QString HeatmapGrid::best_words() const {
  if (metric == metric_key::time_median_ns && !shown.around_one()) return qtext(say::tile_map::fastest{});
  const std::string what = within_sentence(label).toStdString();
  return better == Better::more ? qtext(say::tile_map::highest{.metric = what})
                                : qtext(say::tile_map::lowest{.metric = what});
}

std::optional<HeatmapGrid::Place> HeatmapGrid::place_of(Row point) const {
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const auto found = std::ranges::find_if(
        cells[row], [&](const HeatmapCell& cell) { return cell.disposition && cell.row == point; });
    if (found == cells[row].end()) continue;
    return Place{static_cast<int>(row), static_cast<int>(found - cells[row].begin())};
  }
  return std::nullopt;
}

const HeatmapGrid::Extra& HeatmapGrid::extra(Place place) const {
  static const Extra none;
  if (extras.empty()) return none;
  return extras[static_cast<std::size_t>(place.row)][static_cast<std::size_t>(place.column)];
}

std::vector<RunPtr> HeatmapGrid::sources() const {
  if (empty()) return {};
  std::vector<Row> rows = shown_rows();
  for (const auto& line : extras) {
    for (const Extra& each : line) {
      if (each.base) rows.push_back(*each.base);
    }
  }
  return points->runs_of(rows);
}

std::vector<Row> HeatmapGrid::shown_rows() const {
  std::vector<Row> rows;
  for (const auto& line : cells) {
    for (const HeatmapCell& cell : line) {
      if (cell.disposition) rows.push_back(cell.row);
    }
  }
  return rows;
}

QString comparison_words(const PointSet& points, const analysis::Quantified& shown) {
  switch (shown.as) {
    case analysis::Comparison::none:
      return {};
    case analysis::Comparison::share_of_best:
      return qtext(say::tile_map::of_the_best{});
    case analysis::Comparison::over_model:
      return qtext(say::tile_map::over{.what = qtext(say::tile_map::model{}).toStdString()});
    case analysis::Comparison::over_simulated:
      return qtext(say::tile_map::over{
          .what = qtext(say::tile_map::simulated_in{.run = points.table().runs()[shown.run].title}).toStdString()});
    case analysis::Comparison::over_run:
      return qtext(say::tile_map::over{.what = points.table().runs()[shown.run].title});
  }
  return {};
}

HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                          const analysis::MapRequest& request) {
  HeatmapGrid grid;
  static_cast<analysis::TileMap&>(grid) = analysis::build_map(points->table(), filter.rows(), request);
  if (find_metric(grid.metric) != nullptr) grid.label = metric_label(grid.metric);
  if (const QString over = comparison_words(*points, grid.shown); !over.isEmpty()) {
    grid.label = QStringLiteral("%1 %2").arg(grid.label, over);
    switch (grid.shown.as) {
      case analysis::Comparison::share_of_best:
        grid.over_words = qtext(say::tile_map::best_shown{});
        break;
      case analysis::Comparison::over_model:
        grid.over_words = qtext(say::tile_map::model{});
        break;
      case analysis::Comparison::over_simulated:
        grid.over_words = qtext(say::tile_map::simulated_in{.run = points->table().runs()[grid.shown.run].title});
        break;
      default:
        grid.over_words = QString::fromStdString(points->table().runs()[grid.shown.run].title);
    }
  }
  grid.points = std::move(points);
  return grid;
}

HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                          std::string_view metric) {
  return build_heatmap(std::move(points), filter, {.shown = {.metric = std::string(metric)}});
}

}  // namespace attnscope::ui
