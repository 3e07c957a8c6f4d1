// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_labels.h"

#include <QtMath>
#include <algorithm>
#include <cmath>

#include "ui/plots/plot_parts.h"

namespace attnscope::ui {
namespace {

constexpr double line_label_gap = 3;  ///< In pixels, between a line and its label.
constexpr double half_mark_size = 4;  ///< Half the size of a mark, in pixels.
constexpr double mark_label_gap = 6;  ///< In pixels, between a mark and its label.

}  // namespace

void RooflineLabels::add(Kind kind, const QPointF& at, const QString& text, const QColor& color) {
  auto* item = new QCPItemText(&plot_);
  item->setFont(small_font(plot_.font()));
  item->setColor(color);
  item->setText(text);
  item->setPadding({});
  item->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
  item->position->setType(QCPItemPosition::ptAbsolute);
  item->setVisible(false);
  labels_.push_back({kind, at, item});
}

QSizeF RooflineLabels::size_of(const Label& label) const {
  const QFontMetrics metrics(label.item->font());
  return {static_cast<double>(metrics.horizontalAdvance(label.item->text())), static_cast<double>(metrics.height())};
}

bool RooflineLabels::try_place(const Label& label, const QPolygonF& place,
                               std::initializer_list<const Polygons*> obstacles) {
  const auto hit = [&](const QPolygonF& other) { return place.intersects(other); };
  if (!QRectF(plot_.axisRect()->rect()).contains(place.boundingRect()) || std::ranges::any_of(taken_, hit) ||
      std::ranges::any_of(obstacles, [&](const Polygons* each) { return std::ranges::any_of(*each, hit); })) {
    return false;
  }
  taken_.push_back(place);
  label.item->position->setCoords(place.front());
  label.item->setVisible(true);
  return true;
}

bool RooflineLabels::place_upright(const Label& label, const std::vector<QPointF>& corners,
                                   std::initializer_list<const Polygons*> obstacles) {
  const QSizeF size = size_of(label);
  const QPointF right(size.width(), 0);
  const QPointF up(0, -size.height());
  label.item->setRotation(0);
  return std::ranges::any_of(corners, [&](const QPointF& corner) {
    return try_place(label, QPolygonF({corner, corner + right, corner + right + up, corner + up}), obstacles);
  });
}

void RooflineLabels::place_roof(const Label& label) {
  const QRectF area = plot_.axisRect()->rect();
  const QSizeF size = size_of(label);
  const double angle = roof_angle();
  const QPointF along(std::cos(angle), -std::sin(angle));
  const QPointF across(-std::sin(angle), -std::cos(angle));  // Up and left of the line.
  const QPointF through = to_pixels(*plot_.axisRect(), label.at);
  // The line enters the axes at the left or at the bottom.
  const double to_left = (area.left() - through.x()) / along.x();
  const double to_bottom = (area.bottom() - through.y()) / along.y();
  const QPointF enters = through + along * std::max(to_left, to_bottom);
  const Polygons ceilings = ceiling_lines(label);
  double highest = area.bottom();
  for (const QPolygonF& line : ceilings) highest = std::min(highest, line.boundingRect().top());
  // The roof meets the ceilings left of the visible axes, so it needs no label.
  if (highest < area.bottom() && enters.y() < highest) return;
  constexpr double step = 24;
  for (double offset = step; offset < 8 * step; offset += step) {
    const QPointF corner = enters + along * offset + across * line_label_gap;
    const QPointF up = across * size.height();
    const QPointF end = corner + along * size.width();
    label.item->setRotation(-qRadiansToDegrees(angle));
    if (try_place(label, QPolygonF({corner, end, end + up, corner + up}), {})) return;
  }
  // Try positions next to the line, then above all ceilings.
  std::vector<QPointF> corners;
  for (double offset = step; offset < 10 * step; offset += step / 2) {
    corners.push_back(enters + along * offset + QPointF(2 * line_label_gap, size.height()));
  }
  corners.emplace_back(enters.x() + 2 * line_label_gap, highest - line_label_gap);
  place_upright(label, corners, {&ceilings});
}

double RooflineLabels::roof_angle() const {
  const double decade_x = plot_.xAxis->coordToPixel(10) - plot_.xAxis->coordToPixel(1);
  const double decade_y = plot_.yAxis->coordToPixel(1) - plot_.yAxis->coordToPixel(10);
  return std::atan2(decade_y, decade_x);
}

RooflineLabels::Polygons RooflineLabels::roof_lines() const {
  const QRectF area = plot_.axisRect()->rect();
  const double rise = std::tan(roof_angle());
  double top = area.bottom();
  for (const Label& label : labels_) {
    if (label.kind == Kind::ceiling) top = std::min(top, plot_.yAxis->coordToPixel(label.at.y()));
  }
  Polygons lines;
  for (const Label& label : labels_) {
    if (label.kind != Kind::roof) continue;
    const QPointF through = to_pixels(*plot_.axisRect(), label.at);
    const auto at = [&](double y) { return QPointF(through.x() + (through.y() - y) / rise, y); };
    const QPointF wide(2, 0);
    lines.push_back(QPolygonF({at(area.bottom()), at(top), at(top) + wide, at(area.bottom()) + wide}));
  }
  return lines;
}

RooflineLabels::Polygons RooflineLabels::series_lines() const {
  const QPointF wide(0, 2 * half_mark_size);
  Polygons lines;
  for (const std::vector<QPointF>& points : series_) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const QPointF from = to_pixels(*plot_.axisRect(), points[i - 1]) - wide / 2;
      const QPointF to = to_pixels(*plot_.axisRect(), points[i]) - wide / 2;
      lines.push_back(QPolygonF({from, to, to + wide, from + wide}));
    }
  }
  return lines;
}

RooflineLabels::Polygons RooflineLabels::ceiling_lines(const Label& except) const {
  const QRectF area = plot_.axisRect()->rect();
  Polygons lines;
  for (const Label& other : labels_) {
    const double y = plot_.yAxis->coordToPixel(other.at.y());
    if (other.kind == Kind::ceiling && &other != &except) {
      lines.emplace_back(QRectF(area.left(), y - 1, area.width(), 2));
    }
  }
  return lines;
}

void RooflineLabels::place_ceiling(const Label& label) {
  const QSizeF size = size_of(label);
  const double y = plot_.yAxis->coordToPixel(label.at.y());
  const double above = y - line_label_gap;
  const double below = y + size.height() + line_label_gap;
  const double x = QRectF(plot_.axisRect()->rect()).right() - size.width() - 2 * line_label_gap;
  const double further = x - size.width() - 8 * line_label_gap;
  // If two ceilings are close, the lower one's name is below its line; also if a slanted line would cross it.
  const std::vector<QPointF> corners{
      {x, above}, {x, below}, {x - size.width() / 2, above}, {further, above}, {further, below}};
  const Polygons ceilings = ceiling_lines(label);
  const Polygons roofs = roof_lines();
  const Polygons series = series_lines();
  // If there is no free place, a name may cover series, then roofs.
  if (!place_upright(label, corners, {&ceilings, &roofs, &series}) &&
      !place_upright(label, corners, {&ceilings, &roofs})) {
    place_upright(label, corners, {&ceilings});
  }
}

void RooflineLabels::place_mark(const Label& label) {
  Polygons marks;
  for (const QPointF& each : marks_) {
    marks.emplace_back(QRectF(to_pixels(*plot_.axisRect(), each), QSizeF())
                           .adjusted(-half_mark_size, -half_mark_size, half_mark_size, half_mark_size));
  }
  const QSizeF size = size_of(label);
  const QPointF mark = to_pixels(*plot_.axisRect(), label.at);
  const double middle = mark.y() + size.height() / 2;
  place_upright(label,
                {{mark.x() - size.width() / 2, mark.y() - mark_label_gap},
                 {mark.x() + mark_label_gap, middle},
                 {mark.x() - size.width() - mark_label_gap, middle},
                 {mark.x() - size.width() / 2, mark.y() + mark_label_gap + size.height()}},
                {&marks});
}

void RooflineLabels::place() {
  taken_.clear();
  for (const Label& label : labels_) {
    label.item->setVisible(false);
    if (label.kind == Kind::roof) place_roof(label);
    if (label.kind == Kind::ceiling) place_ceiling(label);
    if (label.kind == Kind::mark) place_mark(label);
  }
}

QStringList RooflineLabels::texts() const {
  QStringList all;
  for (const Label& label : labels_) {
    if (label.item->visible()) all << label.item->text();
  }
  return all;
}

}  // namespace attnscope::ui
