// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a roofline plot: roof names along the roofs, ceiling names above their right ends, lengths next to marks.
// Overlapping labels are dropped, later ones first; a ceiling's name is tried below its line before.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/theme/theme.h"

namespace attnscope::ui {

class RooflineLabels {
 public:
  explicit RooflineLabels(QCustomPlot& plot) : plot_(plot) {}

  /// The plot's items must have been cleared since the last call.
  void clear() {
    labels_.clear();
    marks_.clear();
    series_.clear();
  }
  /// Length labels avoid this mark.
  void avoid_mark(const QPointF& mark) { marks_.push_back(mark); }
  /// Names of ceilings avoid this line.
  void avoid_line(std::vector<QPointF> points) { series_.push_back(std::move(points)); }
  /// Label along a line of slope 1 (log-log) through a point.
  void add_roof(const QPointF& through, const QString& text, const QColor& color) {
    add(Kind::roof, through, text, color);
  }
  void add_ceiling(double y, const QString& text, const QColor& color) { add(Kind::ceiling, {0, y}, text, color); }
  void add_mark(const QPointF& at, const QString& text, const QColor& color) { add(Kind::mark, at, text, color); }
  void place();
  [[nodiscard]] QStringList texts() const;

 private:
  enum class Kind { roof, ceiling, mark };
  struct Label {
    Kind kind;
    QPointF at;
    QCPItemText* item;
  };
  void add(Kind kind, const QPointF& at, const QString& text, const QColor& color);
  void place_roof(const Label& label, std::vector<QPolygonF>& taken) const;
  /// Tries positions for a horizontal text, given as lower left corners.
  void place_upright(const Label& label, const std::vector<QPointF>& corners, std::vector<QPolygonF>& taken) const;
  /// Like place_upright(); the label also avoids other ceilings.
  void place_clear_of_ceilings(const Label& label, const std::vector<QPointF>& corners,
                               std::vector<QPolygonF>& taken) const;
  [[nodiscard]] std::vector<QRectF> ceiling_rows(const Label& except) const;
  /// Slanted lines, up to the highest ceiling.
  [[nodiscard]] std::vector<QPolygonF> roof_lines() const;
  /// Segments of the series, in pixels.
  [[nodiscard]] std::vector<QPolygonF> series_lines() const;
  [[nodiscard]] double roof_angle() const;  ///< In radians.

  QCustomPlot& plot_;
  std::vector<Label> labels_;
  std::vector<QPointF> marks_;
  std::vector<std::vector<QPointF>> series_;
};

}  // namespace attnscope::ui
