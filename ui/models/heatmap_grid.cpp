// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/heatmap_grid.h"

#include <utility>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/said.h"

namespace attnscope::ui {

QString HeatmapGrid::best_words() const {
  if (metric == metric_key::time_median_ns) return said(say::tile_map::fastest{});
  const std::string what = within_sentence(label).toStdString();
  return better == Better::more ? said(say::tile_map::highest{.metric = what})
                                : said(say::tile_map::lowest{.metric = what});
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

HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                          std::string_view metric) {
  HeatmapGrid grid;
  static_cast<analysis::TileMap&>(grid) = analysis::build_tile_map(points->table(), filter.rows(), metric);
  if (find_metric(metric) != nullptr) grid.label = metric_label(metric);
  grid.points = std::move(points);
  return grid;
}

}  // namespace attnscope::ui
