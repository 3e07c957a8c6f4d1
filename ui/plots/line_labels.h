// SPDX-License-Identifier: GPL-3.0-or-later
// Names at the right ends of the curves of a panel. Curves with coinciding ends share one label: "FA2, FA3". Labels are
// never cut: a panel that is too narrow for them has none.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

class LineLabels {
 public:
  LineLabels(QCustomPlot& plot, QCPAxisRect& panel) : plot_(plot), panel_(panel) {}

  /// Names the measured curves of the newest runs in a panel. The plot's items must have been cleared since the last
  /// call.
  void set(const std::vector<Curve>& curves, std::size_t panel, const PlotColors& colors);
  /// Width in pixels that the labels need to the right of the axes; 0 if the panel is too narrow.
  [[nodiscard]] int required_width(int panel_width) const;
  void place();
  [[nodiscard]] QStringList texts() const;

 private:
  struct CurveEnd {
    QString name;
    std::vector<QPointF> points;  ///< N and value, ascending in N.
  };
  struct Label {
    QStringList names;
    QPointF end;  ///< In pixels.
    double y = 0;
    bool inside = false;  ///< The curve ends early, so the label is inside the axes.
  };
  [[nodiscard]] std::vector<Label> merge_labels(double line) const;

  QCustomPlot& plot_;
  QCPAxisRect& panel_;
  std::vector<CurveEnd> ends_;
  std::vector<QCPItemText*> items_;
};

}  // namespace attnscope::ui
