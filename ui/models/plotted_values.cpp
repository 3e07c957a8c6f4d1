// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/plotted_values.h"

#include "profiler/metrics/metrics.h"
#include "ui/models/curve_series.h"
#include "ui/models/heatmap_grid.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

QString with_unit(const QString& key, std::string_view unit) {
  return unit.empty() || unit == "1" ? key : QStringLiteral("%1 [%2]").arg(key, to_qstring(unit));
}

QString tile_words(const TileShape& tile) {
  return tile.br > 0 ? QStringLiteral("%1x%2").arg(tile.br).arg(tile.bc) : QString();
}

}  // namespace

ShownValues values_of(const CurveSet& set) {
  const QString place = set.axis      ? to_qstring(set.axis->key())
                        : set.queries ? QStringLiteral("n_k")
                                      : QStringLiteral("n");
  ShownValues values{.keys = {QStringLiteral("curve"), QStringLiteral("origin"), QStringLiteral("metric"),
                              QStringLiteral("unit"), place, QStringLiteral("value"), QStringLiteral("low"),
                              QStringLiteral("high"), QStringLiteral("tile"), QStringLiteral("run")}};
  for (const Curve& curve : set.curves) {
    const std::string_view key = analysis::metric_of(curve);
    const Metric* metric = find_metric(key);
    for (const CurvePoint& point : curve.points) {
      const QString where = set.places.empty() ? plain_number(point.n) : word_at(set, point.n);
      QStringList line{one_line(curve.label),
                       to_qstring(point.provenance),
                       to_qstring(key),
                       metric == nullptr ? QString() : to_qstring(metric->unit),
                       where,
                       plain_number(point.value),
                       plain_number(point.low),
                       plain_number(point.high)};
      line << (point.row ? tile_words(set.table().spec(*point.row).tile) : QString());
      line << (point.row ? set.points->run_of(*point.row)->title : QString());
      values.lines.push_back(std::move(line));
    }
  }
  return values;
}

ShownValues values_of(std::span<const HeatmapGrid* const> maps) {
  ShownValues values;
  for (const HeatmapGrid* map : maps) {
    if (map->empty()) continue;
    values.keys = {QStringLiteral("map"),         to_qstring(map->y.axis.key()),
                   to_qstring(map->x.axis.key()), with_unit(to_qstring(map->metric) + map->over_words, map->unit),
                   QStringLiteral("origin"),      QStringLiteral("result")};
    for (std::size_t row = 0; row < map->y.size(); ++row) {
      for (std::size_t column = 0; column < map->x.size(); ++column) {
        const HeatmapCell& cell = map->at({static_cast<int>(row), static_cast<int>(column)});
        if (!cell.disposition) continue;
        values.lines.push_back({map->beside, to_qstring(map->y.values[row].text),
                                to_qstring(map->x.values[column].text),
                                cell.value ? plain_number(*cell.value) : QString(), to_qstring(cell.provenance),
                                to_qstring(to_string(*cell.disposition))});
      }
    }
  }
  return values;
}

}  // namespace attnscope::ui
