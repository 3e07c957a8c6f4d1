// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/curve_legend.h"

#include <algorithm>
#include <set>

#include "messages/curve_plot.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/heatmap_text.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::point_at;

/// More panels have one value column, of the panel under the cursor.
constexpr std::size_t most_value_columns = 3;

bool is_series(const Curve& curve) {
  return curve.kind == CurveKind::measured && !curve.merged;
}

QString ratio_text(double ratio) {
  return QString::number(ratio, 'f', 2);
}

QString missing() {
  return QStringLiteral("–");
}

}  // namespace

CurveLegend::CurveLegend(const CurveSet& set) : set_(&set) {
  std::set<double> positions;
  for (const Curve& curve : set_->curves) {
    if (!is_series(curve)) continue;
    const QString key = to_qstring(series_key(curve));
    auto series = std::ranges::find(series_, key, &Series::key);
    if (series == series_.end()) {
      series = series_.insert(series, {key, &curve, std::vector<const Curve*>(set_->panels.size(), nullptr)});
    }
    series->curves[curve.panels.front()] = &curve;
    for (const CurvePoint& point : curve.points) {
      positions.insert(point.n);
      ratios_ = ratios_ || point.over_modeled.has_value();
    }
  }
  for (const FailedPoint& point : set_->failed) positions.insert(point.n);
  positions_.assign(positions.begin(), positions.end());
}

std::optional<double> CurveLegend::last_common() const {
  if (positions_.empty()) return std::nullopt;
  const auto is_common = [this](double n) {
    return std::ranges::all_of(series_, [n](const Series& series) {
      return std::ranges::all_of(
          series.curves, [n](const Curve* curve) { return curve == nullptr || point_at(*curve, n) != nullptr; });
    });
  };
  const auto last = std::find_if(positions_.rbegin(), positions_.rend(), is_common);
  return last == positions_.rend() ? positions_.back() : *last;
}

QString CurveLegend::title_of(const Series& series) const {
  const Curve& curve = *series.first;
  analysis::SeriesName name = curve.name;
  name.device.clear();
  QStringList parts{to_qstring(owner_title(name))};
  const auto differs = [&](const auto& look) {
    return std::ranges::any_of(series_, [&](const Series& other) {
      const Curve& each = *other.first;
      return each.name.algorithm == curve.name.algorithm && each.name.group == curve.name.group &&
             look(each) != look(curve);
    });
  };
  if (differs([](const Curve& each) { return is_simulated(each.provenance); })) parts << to_qstring(curve.provenance);
  if (differs([](const Curve& each) { return each.dashed; })) parts << QString::fromStdString(curve.name.runs);
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

std::vector<std::size_t> CurveLegend::value_panels(std::size_t panel) const {
  if (set_->panels.size() > most_value_columns) return {panel};
  std::vector<std::size_t> panels;
  for (std::size_t i = 0; i < set_->panels.size(); ++i) panels.push_back(i);
  return panels;
}

QString CurveLegend::value_text(const Series& series, std::size_t panel, double n) const {
  const Curve* curve = series.curves[panel];
  const CurvePoint* point = curve == nullptr ? nullptr : point_at(*curve, n);
  if (point != nullptr) return format_quantity(point->value, *curve);
  const auto failed = std::ranges::find_if(set_->failed, [&](const FailedPoint& each) {
    return each.n == n && each.algorithm == series.first->name.algorithm &&
           std::ranges::find(each.panels, panel) != each.panels.end();
  });
  return failed == set_->failed.end() ? missing()
                                      : QStringLiteral("✕ ") + short_label(set_->table().disposition(failed->row));
}

QStringList CurveLegend::cells_of(const Series& series, double n, std::size_t panel) const {
  QStringList cells;
  for (const std::size_t each : value_panels(panel)) cells << value_text(series, each, n);
  const Curve* curve = series.curves[panel] != nullptr ? series.curves[panel] : series.first;
  const CurvePoint* point = point_at(*curve, n);
  if (ratios_) cells << (point != nullptr && point->over_modeled ? ratio_text(*point->over_modeled) : missing());
  if (set_->places.empty()) {
    const auto slope = analysis::slope_at(*curve, n);
    cells << (slope ? ratio_text(*slope) : missing());
  }
  return cells;
}

QStringList CurveLegend::column_titles(std::size_t panel) const {
  const std::vector<std::string> devices = analysis::short_panel_titles(*set_);
  QStringList titles;
  for (const std::size_t each : value_panels(panel)) {
    titles << (devices.size() == 1 && !series_.empty() ? to_qstring(quantity_title(*series_.front().first))
                                                       : to_qstring(devices[each]));
  }
  if (ratios_) titles << qtext(msg::curve_plot::vs_model{});
  if (set_->places.empty()) titles << qtext(msg::curve_plot::slope{});
  return titles;
}

QStringList CurveLegend::notes() const {
  QStringList keys;
  bool model = false;
  bool simulated = false;
  std::size_t points = 0;
  std::vector<Row> clocked;  // rows whose values depend on clocks
  std::size_t extrapolated = 0;
  for (const Curve& curve : set_->curves) {
    model = model || curve.kind == CurveKind::model;
    if (!is_series(curve)) continue;
    simulated = simulated || is_simulated(curve.provenance);
    for (const CurvePoint& point : curve.points) {
      ++points;
      if (point.row && depends_on_clocks(curve)) clocked.push_back(*point.row);
      if (point.provenance == Provenance::extrapolated) ++extrapolated;
    }
  }
  if (model) keys << qtext(msg::curve_plot::key_model{});
  if (simulated) keys << qtext(msg::curve_plot::key_simulated{});
  if (!set_->failed.empty()) keys << qtext(msg::curve_plot::key_failed{});
  if (!set_->boundaries.empty()) keys << qtext(msg::curve_plot::band{});
  QStringList notes;
  if (!keys.isEmpty()) notes << keys.join(QStringLiteral(" · "));
  if (const QString throttling = throttling_note(set_->points.get(), clocked); !throttling.isEmpty())
    notes << throttling;
  if (extrapolated > 0) notes << qtext(msg::curve_plot::extrapolated_points{.all = points, .points = extrapolated});
  const bool by_construction = simulated && ratios_ && set_->ordinate == Ordinate::time && !set_->axis;
  if (by_construction) notes << qtext(msg::curve_plot::times_by_construction{});
  if (set_->undrawn_panels > 0) notes << qtext(msg::curve_plot::panels_undrawn{.panels = set_->undrawn_panels});
  if (set_->undrawn_curves > 0) notes << qtext(msg::curve_plot::curves_undrawn{.curves = set_->undrawn_curves});
  return notes;
}

LegendContent CurveLegend::at(double n, std::size_t panel, const PlotColors& colors) const {
  LegendContent content;
  content.corner = set_->axis
                       ? to_qstring(position_text(*set_, n))
                       : QStringLiteral("%1 %2").arg(QLatin1String(set_->queries ? "n_k" : "N"), format_length(n));
  content.columns = column_titles(panel);
  content.widest = QStringList(content.columns.size(), QString());
  for (const Series& series : series_) {
    const Curve& curve = *series.first;
    content.rows.push_back({.series = series.key,
                            .text = title_of(series),
                            .sample = sample_of(curve),
                            .line = curve_pen(curve, curve_color(curve, colors)),
                            .cells = cells_of(series, n, panel)});
    for (const double each : positions_) {
      const QStringList cells = cells_of(series, each, panel);
      for (qsizetype k = 0; k < cells.size(); ++k) {
        if (cells[k].size() > content.widest[k].size()) content.widest[k] = cells[k];
      }
    }
  }
  for (const Curve& curve : set_->curves) {
    if (curve.kind != CurveKind::compulsory) continue;
    const CurvePoint* point = point_at(curve, n);
    const QString value = point == nullptr ? missing() : format_quantity(point->value, curve);
    content.rows.push_back({.series = {},
                            .text = qtext(msg::curve_plot::compulsory{}),
                            .sample = sample_of(curve),
                            .line = curve_pen(curve, curve_color(curve, colors)),
                            .cells = QStringList(static_cast<qsizetype>(value_panels(panel).size()), value)});
  }
  content.notes = notes();
  if (set_->panels.size() > 1) {
    const std::string device = analysis::short_panel_titles(*set_)[panel];
    content.notes.prepend(qtext(
        msg::curve_plot::columns_of{.columns = content.columns.mid(static_cast<qsizetype>(value_panels(panel).size()))
                                                   .join(QStringLiteral(", "))
                                                   .toStdString(),
                                    .panel = device}));
  }
  return content;
}

namespace {

/// "558 – 598" in the value's unit, or with units if they differ; empty if the ends are equal when formatted.
QString format_range(const CurvePoint& point, const Curve& quantity) {
  QString low = format_quantity(point.low, quantity);
  const QString high = format_quantity(point.high, quantity);
  if (low == high) return {};
  const auto unit = [](const QString& text) { return text.section(QLatin1Char(' '), 1); };
  const QString value_unit = unit(format_quantity(point.value, quantity));
  if (unit(low) != value_unit || unit(high) != value_unit) return low + QStringLiteral(" – ") + high;
  return low.section(QLatin1Char(' '), 0, 0) + QStringLiteral(" – ") + high.section(QLatin1Char(' '), 0, 0);
}

QString position_title(const CurveSet& set, double n) {
  const std::string length = number_text(n, 9);
  if (set.axis) return qtext(msg::curve_plot::at_position{.place = position_text(set, n)});
  if (set.queries) return qtext(msg::curve_plot::at_n_k{.n_k = length, .n_q = *set.queries});
  return qtext(msg::curve_plot::at_n{.n = length});
}

}  // namespace

HoverContent describe_point(const CurveSet& set, const Curve& curve, const CurvePoint& point,
                            const PlotColors& colors) {
  HoverContent content;
  const analysis::PointTable& table = set.table();
  content.title = QStringLiteral("%1 · %2").arg(short_title(curve.name.algorithm), position_title(set, point.n));
  const QColor color = curve_color(curve, colors);
  QString value = format_quantity(point.value, curve);
  QStringList details;
  if (point.repeats > 1) details << qtext(msg::curve_plot::measurements{.measurements = point.repeats});
  if (const QString range = format_range(point, curve); !range.isEmpty()) details << range;
  if (!details.isEmpty()) value += QStringLiteral(" (%1)").arg(details.join(QStringLiteral(", ")));
  content.rows.push_back({color, sample_of(curve), to_qstring(label_of(curve, point)), value});
  if (point.over_modeled) {
    content.rows.push_back({color,
                            {SampleKind::line, curve.identity},
                            qtext(msg::curve_plot::vs_model{}),
                            QString::number(*point.over_modeled, 'f', 3)});
  }
  const Config& tile = table.tile_of(*point.row);
  if (has_tile(tile.tile)) content.notes << qtext(msg::curve_plot::tile{.tile = format_tile(tile).toStdString()});
  if (point.throttled && table.is_throttling_unusual(*point.row)) {
    QString words =
        depends_on_clocks(curve) ? qtext(msg::curve_plot::throttled{}) : qtext(msg::curve_plot::throttled_times{});
    const QString why = qtext(describe_throttle_reasons(table.points().throttle_reasons(*point.row)));
    if (!why.isEmpty()) words += QStringLiteral(" (%1)").arg(why);
    content.notes << words;
  }
  const bool running = curve.quantity == Quantity::dram && !point.settled && curve.provenance == Provenance::measured;
  if (running) content.notes << qtext(msg::curve_plot::no_writeback{});
  return content;
}

HoverContent describe_failure(const CurveSet& set, const FailedPoint& point) {
  HoverContent content;
  content.title = QStringLiteral("✕ %1 · %2").arg(short_title(point.algorithm), position_title(set, point.n));
  content.notes << QStringLiteral("%1 – %2").arg(qtext(title(set.table().disposition(point.row))),
                                                 compiler_error_line(qtext(set.table().reason(point.row))));
  return content;
}

}  // namespace attnscope::ui
