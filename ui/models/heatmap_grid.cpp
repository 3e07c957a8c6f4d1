// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/heatmap_grid.h"

#include <utility>

#include "profiler/metrics/metrics.h"
#include "ui/format.h"

namespace attnscope::ui {

QString HeatmapGrid::best_words() const {
  if (metric == metric_key::time_median_ns) return QStringLiteral("fastest");
  return (better == Better::more ? QStringLiteral("highest ") : QStringLiteral("lowest ")) + within_sentence(label);
}

std::vector<ShownPoint> HeatmapGrid::shown_points() const {
  std::vector<Row> rows;
  for (const auto& line : cells) {
    for (const HeatmapCell& cell : line) {
      if (cell.disposition) rows.push_back(cell.row);
    }
  }
  return points == nullptr ? std::vector<ShownPoint>() : points->select(rows);
}

HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                          std::string_view metric) {
  HeatmapGrid grid;
  static_cast<analysis::TileMap&>(grid) = analysis::build_tile_map(points->table(), filter.rows(), metric);
  if (find_metric(metric) != nullptr) grid.label = metric_label(metric);
  grid.points = std::move(points);
  return grid;
}

}  // namespace attnscope::ui
