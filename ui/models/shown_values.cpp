// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/shown_values.h"

#include <QLocale>
#include <QRegularExpression>

#include "profiler/metrics/metrics.h"
#include "storage/exchange/export.h"
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

template <class Written>
QString in_lines(const ShownValues& values, const QString& between, Written written) {
  QStringList lines;
  const auto add = [&](const QStringList& cells) {
    QStringList out;
    for (const QString& cell : cells) out << written(cell);
    lines << out.join(between);
  };
  add(values.keys);
  for (const QStringList& line : values.lines) add(line);
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace

QString plain_number(double value) {
  return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

ShownValues values_of(const CurveSet& set) {
  const QString place = set.axis ? to_qstring(set.axis->key()) : QStringLiteral("n");
  ShownValues values{.keys = {QStringLiteral("curve"), QStringLiteral("origin"), QStringLiteral("metric"),
                              QStringLiteral("unit"), place, QStringLiteral("value"), QStringLiteral("low"),
                              QStringLiteral("high"), QStringLiteral("tile"), QStringLiteral("run")}};
  for (const Curve& curve : set.curves) {
    const std::string_view key = analysis::metric_of(curve);
    const Metric* metric = find_metric(key);
    for (const CurvePoint& point : curve.points) {
      const QString where = set.places.empty() ? plain_number(point.n) : place_words(set, point.n);
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
    values.keys = {QStringLiteral("map"),
                   to_qstring(map->y.axis.key()),
                   to_qstring(map->x.axis.key()),
                   with_unit(to_qstring(map->metric) + map->over_words, map->unit),
                   QStringLiteral("origin"),
                   QStringLiteral("result")};
    for (std::size_t row = 0; row < map->y.size(); ++row) {
      for (std::size_t column = 0; column < map->x.size(); ++column) {
        const HeatmapCell& cell = map->at({static_cast<int>(row), static_cast<int>(column)});
        if (!cell.disposition) continue;
        values.lines.push_back({map->beside, to_qstring(map->y.values[row].text), to_qstring(map->x.values[column].text),
                                cell.value ? plain_number(*cell.value) : QString(), to_qstring(cell.provenance),
                                to_qstring(to_string(*cell.disposition))});
      }
    }
  }
  return values;
}

QString as_tsv(const ShownValues& values) {
  static const QRegularExpression breaks(QStringLiteral("[\\t\\r\\n]+"));
  return in_lines(values, QStringLiteral("\t"), [](QString cell) { return cell.replace(breaks, QStringLiteral(" ")); });
}

QByteArray as_csv(const ShownValues& values) {
  return in_lines(values, QStringLiteral(","), [](const QString& cell) {
           bool number = false;
           cell.toDouble(&number);
           return number ? cell : QString::fromStdString(csv_text(cell.toStdString()));
         }).toUtf8();
}

}  // namespace attnscope::ui
