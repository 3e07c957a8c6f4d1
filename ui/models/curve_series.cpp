// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/curve_series.h"

#include <utility>

#include "messages/curves.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

QString tile_description(const TileShape& tile) {
  return tile.br > 0 ? QStringLiteral("%1x%2").arg(tile.br).arg(tile.bc) : QString();
}

/// Returns the metric key, prefixed with the kind for modeled curves.
QString value_key(const Curve& curve, const CurvePoint& point) {
  const bool settled = point.settled && curve.quantity == Quantity::dram;
  QString key = to_qstring(settled ? metric_key::dram_settled_bytes : analysis::metric_of(curve));
  switch (curve.kind) {
    case CurveKind::measured:
      return key;
    case CurveKind::model:
      return QStringLiteral("model_") + key;
    case CurveKind::compulsory:
      return QStringLiteral("model_compulsory_bytes");
  }
  return key;
}

}  // namespace

QString format_quantity(double value, const Curve& curve) {
  if (const Metric* metric = find_metric(curve.metric)) {
    return format_metric({curve.metric, value, std::string(metric->unit), curve.provenance});
  }
  if (curve.quantity == Quantity::time) return qtext(Nanoseconds(value));
  if (curve.quantity == Quantity::rate) return qtext(FlopsPerSecond(1e12 * value));
  return qtext(Bytes(value));
}

QString short_title(std::string_view algorithm) {
  return QString::fromStdString(analysis::short_title(known_algorithms(), algorithm));
}

std::vector<Row> drawn_rows(const CurveSet& set) {
  std::vector<Row> rows;
  for (const Curve& curve : set.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.row) rows.push_back(*point.row);
    }
  }
  return rows;
}

std::vector<RunPtr> drawn_runs(const CurveSet& set) {
  std::vector<Row> rows = drawn_rows(set);
  for (const FailedPoint& point : set.failed) rows.push_back(point.row);
  return set.points->runs_of(rows);
}

CurveSet build_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                      const CurveRequest& request) {
  CurveSet set;
  static_cast<analysis::CurveSet&>(set) = analysis::build_curves(points->table(), filter.rows(), request);
  if (set.curves.size() > max_drawn_curves) {
    set.undrawn_curves = set.curves.size() - max_drawn_curves;
    set.curves.erase(set.curves.begin() + max_drawn_curves, set.curves.end());
  }
  arrange_curves(set);
  set.title = QString::fromStdString(filter.summary());
  if (!request.axis && request.tile.swept) set.title += QStringLiteral(" · ") + format_swept(*request.tile.swept);
  set.points = std::move(points);
  return set;
}

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
      QStringList line{to_qstring(curve.label).replace(QLatin1Char('\n'), QStringLiteral(" · ")),
                       to_qstring(to_string(point.provenance)),
                       value_key(curve, point),
                       metric == nullptr ? QString() : to_qstring(metric->unit),
                       set.places.empty() ? plain_number(point.n) : to_qstring(position_value(set, point.n)),
                       plain_number(point.value),
                       plain_number(point.low),
                       plain_number(point.high)};
      if (point.row) {
        const RunPtr& run = set.points->run_of(*point.row);
        line << tile_description(set.table().spec(*point.row).tile) << to_qstring(run->summary.device_name)
             << run->title;
      } else {
        line << QString() << to_qstring(curve.name.device) << QString();
      }
      values.lines.push_back(line << set.title);
    }
  }
  return values;
}

}  // namespace attnscope::ui
