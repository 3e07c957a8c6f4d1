// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_labels.h"

#include <QtMath>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "ui/plots/plot_parts.h"

namespace attnscope::ui {
namespace {

constexpr double line_label_gap = 3;  ///< In pixels, between a line and its label.
constexpr double half_mark_size = 4;  ///< Half the size of a mark, in pixels.
constexpr double mark_label_gap = 6;  ///< In pixels, between a mark and its label.

bool is_free(const QPolygonF& place, const std::vector<QPolygonF>& taken) {
  return std::ranges::none_of(taken, [&](const QPolygonF& other) { return place.intersects(other); });
}

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

void RooflineLabels::place_roof(const Label& label, std::vector<QPolygonF>& taken) const {
  const QRectF area = plot_.axisRect()->rect();
  const QFontMetrics metrics(label.item->font());
  const double width = metrics.horizontalAdvance(label.item->text());
  const double angle = roof_angle();
  const QPointF along(std::cos(angle), -std::sin(angle));
  const QPointF across(-std::sin(angle), -std::cos(angle));  // Up and left of the line.
  const QPointF through = to_pixels(*plot_.axisRect(), label.at);
  // The line enters the axes at the left or at the bottom.
  const double to_left = (area.left() - through.x()) / along.x();
  const double to_bottom = (area.bottom() - through.y()) / along.y();
  const QPointF enters = through + along * std::max(to_left, to_bottom);
  double highest = area.bottom();
  for (const QRectF& line : ceiling_rows(label)) highest = std::min(highest, line.top());
  // The roof meets the ceilings left of the visible axes, so it needs no label.
  if (highest < area.bottom() && enters.y() < highest) return;
  constexpr double step = 24;
  for (double offset = step; offset < 8 * step; offset += step) {
    const QPointF corner = enters + along * offset + across * line_label_gap;
    const QPointF up = across * metrics.height();
    const QPolygonF place({corner, corner + along * width, corner + along * width + up, corner + up});
    if (!area.contains(place.boundingRect())) continue;
    if (!is_free(place, taken)) continue;
    taken.push_back(place);
    label.item->setRotation(-qRadiansToDegrees(angle));
    label.item->position->setCoords(corner);
    label.item->setVisible(true);
    return;
  }
  // Try positions next to the line, then above all ceilings.
  std::vector<QPointF> corners;
  for (double offset = step; offset < 10 * step; offset += step / 2) {
    corners.push_back(enters + along * offset + QPointF(2 * line_label_gap, metrics.height()));
  }
  corners.emplace_back(enters.x() + 2 * line_label_gap, highest - line_label_gap);
  label.item->setRotation(0);
  place_clear_of_ceilings(label, corners, taken);
}

double RooflineLabels::roof_angle() const {
  const double decade_x = plot_.xAxis->coordToPixel(10) - plot_.xAxis->coordToPixel(1);
  const double decade_y = plot_.yAxis->coordToPixel(1) - plot_.yAxis->coordToPixel(10);
  return std::atan2(decade_y, decade_x);
}

std::vector<QPolygonF> RooflineLabels::roof_lines() const {
  const QRectF area = plot_.axisRect()->rect();
  const double rise = std::tan(roof_angle());
  double top = area.bottom();
  for (const Label& label : labels_) {
    if (label.kind == Kind::ceiling) top = std::min(top, plot_.yAxis->coordToPixel(label.at.y()));
  }
  std::vector<QPolygonF> lines;
  for (const Label& label : labels_) {
    if (label.kind != Kind::roof) continue;
    const QPointF through = to_pixels(*plot_.axisRect(), label.at);
    const auto at = [&](double y) { return QPointF(through.x() + (through.y() - y) / rise, y); };
    const QPointF wide(2, 0);
    lines.push_back(QPolygonF({at(area.bottom()), at(top), at(top) + wide, at(area.bottom()) + wide}));
  }
  return lines;
}

std::vector<QPolygonF> RooflineLabels::series_lines() const {
  const QPointF wide(0, 2 * half_mark_size);
  std::vector<QPolygonF> lines;
  for (const std::vector<QPointF>& points : series_) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const QPointF from = to_pixels(*plot_.axisRect(), points[i - 1]) - wide / 2;
      const QPointF to = to_pixels(*plot_.axisRect(), points[i]) - wide / 2;
      lines.push_back(QPolygonF({from, to, to + wide, from + wide}));
    }
  }
  return lines;
}

std::vector<QRectF> RooflineLabels::ceiling_rows(const Label& except) const {
  const QRectF area = plot_.axisRect()->rect();
  std::vector<QRectF> lines;
  for (const Label& other : labels_) {
    const double y = plot_.yAxis->coordToPixel(other.at.y());
    if (other.kind == Kind::ceiling && &other != &except) lines.emplace_back(area.left(), y - 1, area.width(), 2);
  }
  return lines;
}

void RooflineLabels::place_clear_of_ceilings(const Label& label, const std::vector<QPointF>& corners,
                                             std::vector<QPolygonF>& taken) const {
  std::vector<QPolygonF> taken_or_lines = taken;
  for (const QRectF& line : ceiling_rows(label)) taken_or_lines.emplace_back(line);
  place_upright(label, corners, taken_or_lines);
  if (label.item->visible()) taken.push_back(taken_or_lines.back());
}

void RooflineLabels::place_upright(const Label& label, const std::vector<QPointF>& corners,
                                   std::vector<QPolygonF>& taken) const {
  const QRectF area = plot_.axisRect()->rect();
  const QFontMetrics metrics(label.item->font());
  const QSizeF size(metrics.horizontalAdvance(label.item->text()), metrics.height());
  for (const QPointF& corner : corners) {
    const QRectF box(corner - QPointF(0, size.height()), size);
    const QPolygonF place(box);
    if (!area.contains(box) || !is_free(place, taken)) continue;
    taken.push_back(place);
    label.item->position->setCoords(corner);
    label.item->setVisible(true);
    return;
  }
}

void RooflineLabels::place() {
  const QRectF area = plot_.axisRect()->rect();
  std::vector<QPolygonF> taken;
  bool marks_taken = false;  // Roof names are placed first, and may cover marks.
  for (const Label& label : labels_) {
    label.item->setVisible(false);
    const QFontMetrics metrics(label.item->font());
    const double width = metrics.horizontalAdvance(label.item->text());
    const double line = metrics.height();
    if (label.kind == Kind::roof) {
      place_roof(label, taken);
    } else if (label.kind == Kind::ceiling) {
      const double y = plot_.yAxis->coordToPixel(label.at.y());
      const double x = area.right() - width - 2 * line_label_gap;
      // If two ceilings are close, the lower one's name is below its line; also if a slanted line would cross it.
      const std::vector<QPointF> corners{{x, y - line_label_gap},
                                         {x, y + line + line_label_gap},
                                         {x - width / 2, y - line_label_gap},
                                         {x - width - 8 * line_label_gap, y - line_label_gap},
                                         {x - width - 8 * line_label_gap, y + line + line_label_gap}};
      // If there is no free place, a name may cover series, then roofs.
      std::vector<QPolygonF> taken_or_roofs = taken;
      std::ranges::move(roof_lines(), std::back_inserter(taken_or_roofs));
      std::vector<QPolygonF> taken_or_lines = taken_or_roofs;
      std::ranges::move(series_lines(), std::back_inserter(taken_or_lines));
      for (std::vector<QPolygonF>* obstacles : {&taken_or_lines, &taken_or_roofs, &taken}) {
        place_clear_of_ceilings(label, corners, *obstacles);
        if (!label.item->visible()) continue;
        if (obstacles != &taken) taken.push_back(obstacles->back());
        break;
      }
    } else {
      if (!marks_taken) {
        for (const QPointF& each : marks_) {
          taken.emplace_back(QRectF(to_pixels(*plot_.axisRect(), each), QSizeF())
                                 .adjusted(-half_mark_size, -half_mark_size, half_mark_size, half_mark_size));
        }
        marks_taken = true;
      }
      const QPointF mark = to_pixels(*plot_.axisRect(), label.at);
      const double middle = mark.y() + line / 2;
      place_upright(label,
                    {{mark.x() - width / 2, mark.y() - mark_label_gap},
                     {mark.x() + mark_label_gap, middle},
                     {mark.x() - width - mark_label_gap, middle},
                     {mark.x() - width / 2, mark.y() + mark_label_gap + line}},
                    taken);
    }
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
