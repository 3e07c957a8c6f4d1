// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/curve_series.h"

#include <QCoreApplication>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "ui/format.h"

namespace attnscope::ui {
namespace {

/// An interval that reads as none is not said.
constexpr double worth_saying = 0.005;

QString tr(const char* text) {
  return QCoreApplication::translate("CurveSet", text);
}

/// " · memory-wall (2)", where runs have to be told apart.
QString of_run(const analysis::SeriesName& name) {
  return name.runs.empty() ? QString() : QStringLiteral(" · ") + QString::fromStdString(name.runs);
}

/// "simulated, fit ...": what is fitted to simulated or imported bytes is no more than they are.
QString fit_label(const analysis::SeriesName& name, Quantity quantity, Provenance provenance, const QString& words) {
  const QString origin = provenance == Provenance::derived ? QString() : to_qstring(provenance) + QStringLiteral(", ");
  return QStringLiteral("%1 · %2%3 · %4%5").arg(owner_words(name), to_string(quantity), of_run(name), origin, words);
}

QString measured_label(const analysis::Curve& curve, Provenance provenance) {
  return QStringLiteral("%1 · %2 · %3%4")
      .arg(owner_words(curve.name), to_string(curve.quantity), to_qstring(provenance), of_run(curve.name));
}

QString label_of(const analysis::Curve& curve) {
  switch (curve.kind) {
    case CurveKind::measured:
      return measured_label(curve, curve.provenance);
    case CurveKind::model: {
      QString label = tr("%1 · SM↔L2 · exact model").arg(short_title(curve.name.algorithm));
      if (curve.tile) label += QLatin1Char(' ') + format_tile(*curve.tile);
      if (!curve.name.device.empty()) label += tr(" on ") + QString::fromStdString(curve.name.device);
      return label;
    }
    case CurveKind::fit:
      return fit_label(curve.name, curve.quantity, curve.provenance, fit_words(*curve.law));
    case CurveKind::paper_count:
      return tr("%1 · paper's count %2").arg(short_title(curve.name.algorithm), QString::fromStdString(curve.formula));
    case CurveKind::compulsory:
      return tr("Compulsory minimum · modelled");
  }
  return {};
}

/// Four digits of a number that is known to be exact, three of others.
QString constant(double value, double relative_width) {
  return format_number(value, relative_width < worth_saying ? 4 : 3);
}

QString percent(double share) {
  return QStringLiteral("%1 %").arg(format_number(100 * share, 2));
}

/// "on the tile map alone: tiles (N 4096)"
QString hidden_words(const PointSet& points, const std::set<analysis::HiddenSweep>& hidden) {
  QStringList sweeps;
  for (const analysis::HiddenSweep& sweep : hidden) {
    sweeps << tr("%1 (N %2)").arg(QString::fromStdString(points.table().runs()[sweep.run].title)).arg(sweep.n);
  }
  return sweeps.isEmpty() ? QString() : tr("on the tile map alone:\n%1").arg(sweeps.join(QStringLiteral(", ")));
}

}  // namespace

QString owner_words(const analysis::SeriesName& name) {
  QString text = short_title(name.algorithm);
  if (!name.label.empty()) text += QStringLiteral(" (%1)").arg(QString::fromStdString(name.label));
  if (!name.device.empty()) text += tr(" on ") + QString::fromStdString(name.device);
  return text;
}

QString label_of(const Curve& curve, const CurvePoint& point) {
  if (point.provenance == Provenance::extrapolated) return measured_label(curve, point.provenance);
  return curve.label.section(QLatin1Char('\n'), 0, 0);
}

QString to_string(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return QStringLiteral("DRAM");
    case Quantity::sm_l2:
      return QStringLiteral("SM↔L2");
    case Quantity::time:
      return tr("time");
    case Quantity::rate:
      return QStringLiteral("TFLOP/s");
  }
  return {};
}

QString format_quantity(double value, Quantity quantity) {
  if (quantity == Quantity::time) return format_duration(value);
  if (quantity == Quantity::rate) return format_value(value, "Tflop/s");
  return format_bytes(value);
}

QString short_title(std::string_view algorithm) {
  static const analysis::Algorithms known = analysis::Algorithms::built_in();
  return QString::fromStdString(analysis::short_title(known, algorithm));
}

QString fit_words(const analysis::FittedLaw& law) {
  const LawFit& fit = *law.fit;
  const double width = fit.relative_half_width();
  QString text = tr("fit %1·%2").arg(constant(fit.scale, width), QString::fromStdString(law.law.text));
  if (!law.law.lower.empty()) {
    text += QStringLiteral(" %1 %2·%3")
                .arg(fit.below < 0 ? QStringLiteral("−") : QStringLiteral("+"), constant(std::abs(fit.below), width),
                     QString::fromStdString(law.law.lower));
  }
  if (width >= worth_saying) text += QStringLiteral(" (±%1)").arg(percent(width));
  if (law.power) {
    text += tr("\nslope %1").arg(law.power->slope, 0, 'f', 2);
    text += QStringLiteral(" [%1, %2]")
                .arg(law.power->slope_interval.low, 0, 'f', 2)
                .arg(law.power->slope_interval.high, 0, 'f', 2);
  }
  if (!law.law.from_words.empty()) text += QStringLiteral(", ") + QString::fromStdString(law.law.from_words);
  return text;
}

QString withheld_words(const analysis::FittedLaw& law) {
  const QString text = QString::fromStdString(law.law.text);
  QString head = tr("no fit of %1:\n").arg(text);
  const QString slope = law.power ? QString::number(law.power->slope, 'f', 2) : QStringLiteral("?");
  switch (*law.refusal) {
    case analysis::FitRefusal::too_few: {
      const QString range =
          law.law.from_words.empty() ? QString() : tr(" with %1").arg(QString::fromStdString(law.law.from_words));
      const QString points = law.points == 1 ? tr("1 point") : tr("%1 points").arg(law.points);
      return head + points + range + tr(", %1 are needed").arg(analysis::fewest_fitted);
    }
    case analysis::FitRefusal::not_seen:
      return head + tr("the points grow as N^%1").arg(slope);
    case analysis::FitRefusal::steeper:
      return head + tr("the points grow faster, as N^%1").arg(slope);
    case analysis::FitRefusal::misses:
      return head + tr("it would miss N %1 by %2, its interval is ±%3")
                        .arg(law.worst_n)
                        .arg(percent(law.fit->worst), percent(law.fit->relative_half_width()));
  }
  return head;
}

CurveSet build_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                      const CurveRequest& request) {
  analysis::CurveSet built = analysis::build_curves(points->table(), filter.rows(), request);
  CurveSet set;
  set.ordinate = built.ordinate;
  set.queries = built.queries;
  set.pass = built.pass;
  set.per_head = built.per_head;
  std::set<std::string> devices;
  for (const analysis::Curve& curve : built.curves) {
    if (!curve.name.device.empty()) devices.insert(curve.name.device);
  }
  for (analysis::Curve& curve : built.curves) {
    QString label = label_of(curve);
    const auto shade = std::distance(devices.begin(), devices.lower_bound(curve.name.device));
    set.curves.push_back({std::move(curve), std::move(label), static_cast<int>(shade)});
  }
  for (const analysis::WithheldFit& fit : built.withheld) {
    set.withheld.push_back(
        {fit.name.algorithm, fit_label(fit.name, fit.quantity, fit.provenance, withheld_words(fit.law))});
  }
  set.hidden = hidden_words(*points, built.hidden);
  set.failed = std::move(built.failed);
  set.boundaries = std::move(built.boundaries);
  set.stacks = std::move(built.stacks);
  set.title = QString::fromStdString(filter.summary());
  if (request.tile.splits) set.title += tr(" · splits %1").arg(format_splits(*request.tile.splits));
  set.points = std::move(points);
  return set;
}

}  // namespace attnscope::ui
