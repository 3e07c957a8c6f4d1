// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plotted_values.h"

#include "profiler/metrics/metrics.h"
#include "ui/models/curve_series.h"
#include "ui/models/heatmap_grid.h"
#include "ui/plots/heatmap_words.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

QString with_unit(const QString& key, std::string_view unit) {
  return unit.empty() || unit == "1" ? key : QStringLiteral("%1 [%2]").arg(key, to_qstring(unit));
}

QString tile_words(const TileShape& tile) {
  return tile.br > 0 ? QStringLiteral("%1x%2").arg(tile.br).arg(tile.bc) : QString();
}

/// Of what is drawn beside measured values the kind stands before the metric's key.
QString key_of(const Curve& curve, const CurvePoint& point) {
  const bool settled = point.settled && curve.quantity == Quantity::dram;
  QString key = to_qstring(settled ? metric_key::dram_settled_bytes : analysis::metric_of(curve));
  switch (curve.kind) {
    case CurveKind::measured:
      return key;
    case CurveKind::fit:
      return QStringLiteral("fit_") + key;
    case CurveKind::paper_count:
      return QStringLiteral("paper_") + key;
    case CurveKind::model:
      return QStringLiteral("model_") + key;
    case CurveKind::compulsory:
      return QStringLiteral("model_compulsory_bytes");
  }
  return key;
}

}  // namespace

ShownValues values_of(const CurveSet& set) {
  const QString place = set.axis      ? to_qstring(set.axis->key())
                        : set.queries ? QStringLiteral("n_k")
                                      : QStringLiteral("n");
  ShownValues values{.keys = {QStringLiteral("curve"), QStringLiteral("origin"), QStringLiteral("metric"),
                              QStringLiteral("unit"), place, QStringLiteral("value"), QStringLiteral("low"),
                              QStringLiteral("high"), QStringLiteral("tile"), QStringLiteral("device"),
                              QStringLiteral("run"), QStringLiteral("problem")}};
  for (const Curve& curve : set.curves) {
    const Metric* metric = find_metric(analysis::metric_of(curve));
    for (const CurvePoint& point : curve.points) {
      QStringList line{QString(curve.label).replace(QLatin1Char('\n'), QStringLiteral(" · ")),
                       to_qstring(to_string(point.provenance)),
                       key_of(curve, point),
                       metric == nullptr ? QString() : to_qstring(metric->unit),
                       set.places.empty() ? plain_number(point.n) : word_at(set, point.n),
                       plain_number(point.value),
                       plain_number(point.low),
                       plain_number(point.high)};
      if (point.row) {
        const RunPtr& run = set.points->run_of(*point.row);
        line << tile_words(set.table().spec(*point.row).tile) << to_qstring(run->summary.device_name) << run->title;
      } else {
        line << QString() << to_qstring(curve.name.device) << QString();
      }
      values.lines.push_back(line << set.title);
    }
  }
  return values;
}

ShownValues values_of(std::span<const HeatmapGrid* const> maps) {
  ShownValues values;
  for (const HeatmapGrid* map : maps) {
    if (map->empty()) continue;
    QString key = to_qstring(map->metric);
    if (map->shown.as != analysis::Comparison::none) key += QLatin1Char('_') + to_qstring(to_string(map->shown.as));
    values.keys = {to_qstring(map->y.axis.key()), to_qstring(map->x.axis.key()), with_unit(key, map->unit),
                   QStringLiteral("origin"),      QStringLiteral("result"),      QStringLiteral("run"),
                   QStringLiteral("map")};
    const HeatmapTitle title = heatmap_title(*map);
    for (std::size_t row = 0; row < map->y.size(); ++row) {
      for (std::size_t column = 0; column < map->x.size(); ++column) {
        const HeatmapCell& cell = map->at({static_cast<int>(row), static_cast<int>(column)});
        if (!cell.disposition) continue;
        values.lines.push_back({to_qstring(map->y.values[row].text), to_qstring(map->x.values[column].text),
                                cell.value ? plain_number(*cell.value) : QString(),
                                to_qstring(to_string(cell.provenance)), to_qstring(to_string(*cell.disposition)),
                                map->points->run_of(cell.row)->title, title.what + QStringLiteral(" · ") + title.of});
      }
    }
  }
  return values;
}

}  // namespace attnscope::ui
