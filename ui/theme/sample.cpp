// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/sample.h"

#include <QGuiApplication>
#include <QPainter>
#include <map>
#include <tuple>

namespace attnscope::ui {

Sample sample_of(Provenance provenance, style::PlotIdentity identity) {
  if (provenance == Provenance::modeled) return {SampleKind::line, identity};
  return {is_simulated(provenance) ? SampleKind::hollow : SampleKind::filled, identity};
}

QPainterPath marker_path(style::PlotIdentity identity, double shift) {
  constexpr double radius = 4;
  QPainterPath path;
  const std::vector<style::MarkerPoint> outline = style::marker_outline(identity);
  if (outline.empty()) path.addEllipse(QPointF(shift, 0), radius, radius);
  for (const style::MarkerPoint& corner : outline) {
    const QPointF at(shift + radius * corner.x, radius * corner.y);
    path.elementCount() == 0 ? path.moveTo(at) : path.lineTo(at);
  }
  path.closeSubpath();
  return path;
}

QPen marker_outline_pen(const QColor& color) {
  return {color, 1.5, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin};
}

void draw_sample(QPainter& painter, const QRectF& where, const Sample& sample, const QPen& line,
                 const QColor& background) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (line.style() != Qt::NoPen) {
    painter.setPen(line);
    painter.drawLine(QPointF(where.left(), where.center().y()), QPointF(where.right(), where.center().y()));
  }
  if (sample.is_marker()) {
    painter.setPen(marker_outline_pen(line.color()));
    painter.setBrush(sample.kind == SampleKind::hollow ? background : line.color());
    painter.translate(where.center());
    painter.drawPath(marker_path(sample.identity));
  }
  painter.restore();
}

QPixmap algorithm_marker(std::string_view algorithm, Provenance provenance) {
  constexpr int side = 16;
  const PlotColors colors = plot_colors(QGuiApplication::palette());
  const Sample sample = sample_of(provenance, style::identity_of(algorithm));
  const double ratio = qGuiApp->devicePixelRatio();
  // Called for each visible row of a table.
  static std::map<std::tuple<int, int, int, QRgb, double>, QPixmap> known;
  QPixmap& marker = known[{static_cast<int>(sample.kind), static_cast<int>(sample.identity.slot),
                           sample.identity.variant, colors.background.rgb(), ratio}];
  if (!marker.isNull()) return marker;
  marker = QPixmap((QSizeF(side, side) * ratio).toSize());
  marker.setDevicePixelRatio(ratio);
  marker.fill(Qt::transparent);
  QPainter painter(&marker);
  const QPen color(identity_color(sample.identity, colors.dark), 0, Qt::NoPen);
  draw_sample(painter, QRectF(0, 0, side, side), sample, color, colors.background);
  return marker;
}

}  // namespace attnscope::ui
