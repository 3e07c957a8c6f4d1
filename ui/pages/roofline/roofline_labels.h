// SPDX-License-Identifier: GPL-3.0-or-later
// Words in a roofline plot: names along the roofs, above the ceilings' right ends, and lengths beside marks. None lies
// on another; of two that would, the later one goes, and what names a ceiling looks for a place below its line first.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/theme/theme.h"

namespace attnscope::ui {

class RooflineLabels {
 public:
  explicit RooflineLabels(QCustomPlot& plot) : plot_(plot) {}

  /// The plot's items must have been cleared since.
  void clear() {
    labels_.clear();
    marks_.clear();
  }
  /// No length stands on that mark.
  void keep_free(const QPointF& mark) { marks_.push_back(mark); }
  /// Along a line of one decade a decade that passes through this point.
  void add_roof(const QPointF& through, const QString& text, const QColor& color) {
    add(Kind::roof, through, text, color);
  }
  /// At the right end of a horizontal line.
  void add_ceiling(double y, const QString& text, const QColor& color) { add(Kind::ceiling, {0, y}, text, color); }
  /// Above a mark.
  void add_mark(const QPointF& at, const QString& text, const QColor& color) { add(Kind::mark, at, text, color); }
  /// Puts them where the axes as they are laid out have their lines and marks.
  void place();
  /// What stands there now.
  [[nodiscard]] QStringList texts() const;

 private:
  enum class Kind { roof, ceiling, mark };
  struct Label {
    Kind kind;
    QPointF at;  ///< in coordinates of the axes
    QCPItemText* item;
  };
  void add(Kind kind, const QPointF& at, const QString& text, const QColor& color);
  void place_roof(const Label& label, std::vector<QPolygonF>& taken) const;
  /// Tries places for a text of that size, given by the corners at its lower left.
  void place_upright(const Label& label, const std::vector<QPointF>& corners, std::vector<QPolygonF>& taken) const;
  /// The same; the name lies on no other ceiling.
  void place_off_ceilings(const Label& label, const std::vector<QPointF>& corners, std::vector<QPolygonF>& taken) const;
  [[nodiscard]] std::vector<QRectF> ceiling_lines(const Label& except) const;
  /// The slanted lines, up to the highest ceiling.
  [[nodiscard]] std::vector<QPolygonF> roof_lines() const;
  [[nodiscard]] double roof_angle() const;  ///< in radians

  QCustomPlot& plot_;
  std::vector<Label> labels_;
  std::vector<QPointF> marks_;
};

}  // namespace attnscope::ui
