// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a roofline plot: roof names along the roofs, ceiling names above their right ends, lengths next to marks.
// Overlapping labels are dropped, later ones first; a ceiling's name is tried below its line before.
#pragma once

#include <qcustomplot.h>

#include <initializer_list>
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
  using Polygons = std::vector<QPolygonF>;
  void add(Kind kind, const QPointF& at, const QString& text, const QColor& color);
  void place_roof(const Label& label);
  void place_ceiling(const Label& label);
  void place_mark(const Label& label);
  /// Shows the label there if the place is in the axes and free of taken places and of `obstacles`.
  bool try_place(const Label& label, const QPolygonF& place, std::initializer_list<const Polygons*> obstacles);
  /// Tries positions for a horizontal text, given as lower left corners.
  bool place_upright(const Label& label, const std::vector<QPointF>& corners,
                     std::initializer_list<const Polygons*> obstacles);
  [[nodiscard]] Polygons ceiling_lines(const Label& except) const;
  /// Slanted lines, up to the highest ceiling.
  [[nodiscard]] Polygons roof_lines() const;
  /// Segments of the series, in pixels.
  [[nodiscard]] Polygons series_lines() const;
  [[nodiscard]] QSizeF size_of(const Label& label) const;
  [[nodiscard]] double roof_angle() const;  ///< In radians.

  QCustomPlot& plot_;
  std::vector<Label> labels_;
  std::vector<QPointF> marks_;
  std::vector<std::vector<QPointF>> series_;
  Polygons taken_;  ///< Places of labels.
};

}  // namespace attnscope::ui
