// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/plot_problems.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ui/format.h"
#include "ui/models/heatmap_grid.h"

namespace attnscope::ui {

ProblemFilter make_curve_filter() {
  return {{facets::head_dim(), facets::pass(), facets::queries(), facets::mask(), facets::dtype(), facets::heads(),
           facets::dropout(), facets::page(), facets::deterministic(), facets::cache()},
          [](const PointSpec& spec) { return QString::number(spec.problem.n_k); }};
}

ProblemFilter make_tile_filter() {
  return {{facets::device(), facets::algorithm(), facets::length(), facets::head_dim(), facets::pass(), facets::mask(),
           facets::dtype(), facets::heads(), facets::dropout(), facets::page(), facets::deterministic(),
           facets::raster(), facets::splits(), facets::warps(), facets::stages(), facets::cache()},
          [](const PointSpec& spec) { return QStringLiteral("%1x%2").arg(spec.tile.br).arg(spec.tile.bc); }};
}

QString curve_stem(Ordinate ordinate, const ProblemFilter& filter, const TileSelection& tile) {
  QString stem = to_string(ordinate) + filter.stem();
  if (tile.splits) stem += QStringLiteral("-splits") + format_splits(*tile.splits);
  if (tile.rule == TileSelection::Rule::fastest) stem += QStringLiteral("-fastest");
  if (tile.rule == TileSelection::Rule::exact) {
    QString words = format_tile(tile.tile);
    words.remove(QLatin1Char(',')).replace(QStringLiteral(" × "), QStringLiteral("x"));
    stem += QStringLiteral("-tile") + words.replace(QLatin1Char(' '), QLatin1Char('-'));
  }
  return stem;
}

QString tile_stem(const ProblemFilter& filter, std::string_view metric) {
  return QStringLiteral("tiles") + filter.stem() + QLatin1Char('-') + to_qstring(metric);
}

std::vector<ShownPoint> swept_points(const std::vector<ShownPoint>& points) {
  const auto key = [](const ShownPoint& point) {
    const PointSpec& spec = point.spec();
    const AttentionProblem& p = spec.problem;
    const TileShape& t = spec.tile;
    return std::tuple(point.run->summary.device_uuid, point.run->summary.provenance, spec.algorithm, p.n_q, p.n_k, p.d,
                      p.batch, p.heads_q, p.heads_kv, p.pass, p.mask, p.dtype, p.dropout, p.page, p.deterministic,
                      t.raster, t.splits, t.warps, t.stages, spec.cache);
  };
  std::map<decltype(key(std::declval<ShownPoint>())), std::set<std::pair<int, int>>> tiles;
  for (const ShownPoint& point : points) {
    if (tile_stated(point.spec().tile)) tiles[key(point)].emplace(point.spec().tile.br, point.spec().tile.bc);
  }
  std::vector<ShownPoint> swept;
  for (const ShownPoint& point : points) {
    if (tile_stated(point.spec().tile) && tiles[key(point)].size() >= fewest_tiles_of_a_map) swept.push_back(point);
  }
  return swept;
}

bool only_a_tile_map(const std::vector<ShownPoint>& points) {
  std::set<std::int64_t> lengths;
  std::map<std::string, std::set<std::pair<int, int>>> tiles;
  for (const ShownPoint& point : points) {
    const PointSpec& spec = point.spec();
    lengths.insert(spec.problem.n_k);
    if (tile_stated(spec.tile)) tiles[spec.algorithm].emplace(spec.tile.br, spec.tile.bc);
  }
  return lengths.size() == 1 && std::any_of(tiles.begin(), tiles.end(), [](const auto& entry) {
           return entry.second.size() >= fewest_tiles_of_a_map;
         });
}

}  // namespace attnscope::ui
