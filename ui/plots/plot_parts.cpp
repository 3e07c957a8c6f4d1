// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_parts.h"

#include "messages/curve_plot.h"
#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr double line_width = 2;
constexpr double model_width = 1;
constexpr double path_unit_size = 6;  ///< Marker size at which QCPScatterStyle draws path units as pixels.

}  // namespace

void style_axis(QCPAxis& axis, const PlotColors& colors, const QFont& font) {
  axis.setBasePen(QPen(colors.axis));
  axis.setTickPen(QPen(colors.axis));
  axis.setSubTickPen(QPen(colors.axis));
  axis.setTickLabelColor(colors.text);
  axis.setLabelColor(colors.text);
  axis.setTickLabelFont(font);
  axis.setLabelFont(font);
  axis.grid()->setPen(QPen(colors.grid, 1));
  axis.grid()->setZeroLinePen(Qt::NoPen);
  axis.grid()->setSubGridVisible(false);
}

QFont bold(QFont font) {
  font.setBold(true);
  return font;
}

QPointF to_pixels(const QCPAxisRect& panel, const QPointF& point) {
  return {panel.axis(QCPAxis::atBottom)->coordToPixel(point.x()), panel.axis(QCPAxis::atLeft)->coordToPixel(point.y())};
}

QCPGraph* add_line(const QCPAxisRect& panel, const QPen& pen) {
  QCPGraph* line = panel.parentPlot()->addGraph(panel.axis(QCPAxis::atBottom), panel.axis(QCPAxis::atLeft));
  line->setPen(pen);
  return line;
}

QCPGraph* add_marks(const QCPAxisRect& panel, const QCPScatterStyle& style) {
  QCPGraph* marks = add_line(panel, style.pen());
  marks->setLineStyle(QCPGraph::lsNone);
  marks->setScatterStyle(style);
  return marks;
}

QCPItemStraightLine* add_level(QCPAxisRect& panel, double value, const QPen& pen) {
  auto* level = new QCPItemStraightLine(panel.parentPlot());
  level->setClipAxisRect(&panel);
  for (QCPItemPosition* position : {level->point1, level->point2}) {
    position->setAxes(panel.axis(QCPAxis::atBottom), panel.axis(QCPAxis::atLeft));
    position->setAxisRect(&panel);
  }
  level->point1->setCoords(1, value);
  level->point2->setCoords(2, value);
  level->setPen(pen);
  return level;
}

void add_band(QCPAxisRect& panel, double low, double high, const QColor& color) {
  auto* band = new QCPItemRect(panel.parentPlot());
  for (QCPItemPosition* corner : {band->topLeft, band->bottomRight}) {
    corner->setAxisRect(&panel);
    corner->setAxes(panel.axis(QCPAxis::atBottom), panel.axis(QCPAxis::atLeft));
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
    corner->setTypeY(QCPItemPosition::ptPlotCoords);
  }
  band->setClipAxisRect(&panel);
  band->topLeft->setCoords(0, high);
  band->bottomRight->setCoords(1, low);
  band->setPen(Qt::NoPen);
  band->setBrush(color);
  band->setLayer(QStringLiteral("grid"));
}

Sample sample_of(const Curve& curve) {
  return curve.kind == CurveKind::measured ? sample_of(curve.provenance, curve.identity)
                                           : Sample{SampleKind::line, curve.identity};
}

QCPScatterStyle scatter_of(const Sample& sample, const QColor& color, const QColor& background, double shift) {
  if (!sample.is_marker()) return {};
  return {marker_path(sample.identity, shift), marker_outline_pen(color),
          sample.kind == SampleKind::hollow ? background : color, path_unit_size};
}

std::array<QCPScatterStyle, 2> selection_ring(const PlotColors& colors, double shift) {
  constexpr double radius = 9;
  QPainterPath ring;
  ring.addEllipse(QPointF(shift, 0), radius, radius);
  return {QCPScatterStyle(ring, QPen(colors.background, 5), Qt::NoBrush, path_unit_size),
          QCPScatterStyle(ring, QPen(colors.text, 2), Qt::NoBrush, path_unit_size)};
}

QPen series_pen(const QColor& color, Provenance provenance, bool dashed) {
  QPen pen(color, provenance == Provenance::modeled ? model_width : line_width);
  pen.setCapStyle(Qt::FlatCap);
  if (is_simulated(provenance)) {
    pen.setCapStyle(Qt::RoundCap);
    pen.setDashPattern({0.1, 2});
  } else if (dashed) {
    pen.setDashPattern({4, 2.5});
  }
  return pen;
}

QPen curve_pen(const Curve& curve, const QColor& color) {
  return series_pen(color, curve.kind == CurveKind::measured ? curve.provenance : Provenance::modeled, curve.dashed);
}

QColor curve_color(const Curve& curve, const PlotColors& colors) {
  return curve.name.algorithm.empty() ? colors.axis : identity_color(curve.identity, colors.dark);
}

bool depends_on_clocks(const Curve& curve) {
  if (curve.kind != CurveKind::measured) return false;
  const Metric* metric = find_metric(analysis::metric_of(curve));
  return metric != nullptr && metric->depends_on_clock;
}

QString throttling_note(const PointSet* points, std::span<const Row> rows) {
  if (points == nullptr) return {};
  const analysis::PointTable& table = points->table();
  const auto throttled =
      static_cast<std::size_t>(std::ranges::count_if(rows, [&](Row row) { return table.throttled(row); }));
  if (throttled == 0) return {};
  const bool of_run =
      std::ranges::any_of(rows, [&](Row row) { return table.run(row).mostly_throttled.value_or(false); });
  if (of_run) return qtext(msg::tile_map::run_throttled{});
  return qtext(msg::curve_plot::throttled_points{.all = rows.size(), .points = throttled});
}

QFont headline_font(QFont font) {
  constexpr double headline_share = 1.4;
  font.setPointSizeF(font.pointSizeF() * headline_share);
  font.setWeight(QFont::DemiBold);
  return font;
}

QFont small_font(QFont font) {
  constexpr double caption_share = 0.9;
  constexpr double least = 8.25;  // 11 pixels at 96 dpi
  font.setPointSizeF(std::max(least, font.pointSizeF() * caption_share));
  return font;
}

}  // namespace attnscope::ui
