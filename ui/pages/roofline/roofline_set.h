// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs of a device, with their names and table, and the placement of labels: roof names along the
// roofs, ceiling names above their right ends, lengths next to marks. Overlapping labels are dropped, later ones first.
#pragma once

#include <qcustomplot.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <vector>

#include "profiler/roofline/roofline.h"
#include "ui/models/curve_series.h"
#include "ui/models/result_model.h"
#include "ui/runs/point_set.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

using analysis::RooflineLevel;
using analysis::RooflinePoint;
using analysis::RooflineReport;
using analysis::RooflineSeries;

struct RooflineSet {
  std::shared_ptr<const PointSet> points;
  RooflineReport report;
  RooflineLevel level = RooflineLevel::dram;
  QString device;  ///< Device of the roofs: device_title().
  QString gpu;
  QString problem;  ///< Settings common to all points.

  [[nodiscard]] std::size_t drawn_series() const { return std::min(report.series.size(), max_drawn_curves); }
};

[[nodiscard]] QString level_label(RooflineLevel level);
/// "FA2"; with the run if the set has several of an algorithm.
[[nodiscard]] QString series_title(const RooflineSet& set, const RooflineSeries& series);
/// Returns whether an earlier series has the same algorithm and another run.
[[nodiscard]] bool is_further_run(const RooflineSet& set, const RooflineSeries& series);
/// "wgmma 781 TFLOP/s at 1520 MHz · measured", "exp2 4.14 Top/s = 1.06 PFLOP/s · datasheet".
[[nodiscard]] QString roof_text(const RooflineSet& set, const analysis::Roof& roof);
/// "wgmma"; "impossible" for impossible values; empty for a point without a bound.
[[nodiscard]] QString bound_text(const RooflinePoint& point);
[[nodiscard]] Provenance intensity_provenance(const RooflineSet& set, const RooflinePoint& point, RooflineLevel level);

/// Table of the points: achieved rate, intensity and nearest bound. Includes link intensities if there is a link roof.
/// Cells of the first column refer to the row of their point.
[[nodiscard]] analysis::Table roofline_table(const std::shared_ptr<const RooflineSet>& set);

class RooflineLabels {
 public:
  explicit RooflineLabels(QCustomPlot& plot) : plot_(plot) {}

  /// The plot's items must have been cleared since the last call.
  void clear() {
    labels_.clear();
    marks_.clear();
    series_.clear();
  }
  void avoid_mark(const QPointF& mark) { marks_.push_back(mark); }
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
