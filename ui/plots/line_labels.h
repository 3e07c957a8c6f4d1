// SPDX-License-Identifier: GPL-3.0-or-later
// Names at the right ends of curves, so that no eye has to go to a legend and back. Names of curves that end on one
// another are one label: "FA2, FA3 · DRAM". A curve that ends earlier than the others has its name there.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/theme.h"

namespace attnscope::ui {

class LineLabels {
 public:
  explicit LineLabels(QCustomPlot& plot) : plot_(plot) {}

  /// Of measured curves that no newer run leads, one each owner and quantity; the first of them stands for the others.
  /// The plot's items must have been cleared since the last call.
  void set(const std::vector<Curve>& curves, const PlotColors& colors);
  /// Room to the right of the axes that the labels take in a plot of that width; 0: the plot is too narrow for any.
  [[nodiscard]] int room(int plot_width) const;
  /// Puts them beside the curves' ends as the axes are now laid out.
  void place();
  /// What stands there, from the top.
  [[nodiscard]] QStringList texts() const;

 private:
  struct End {
    QString owner;
    QString quantity;
    QColor color;
    std::vector<QPointF> points;  ///< N and value, by N
  };
  struct Label {
    QStringList owners;
    QString quantity;
    QColor color;
    QPointF end;          ///< pixels
    double y = 0;         ///< of its middle, once it is placed
    bool inside = false;  ///< its curve ends before the others do: it stands there

    /// Within so many pixels: names give way, the quantity stays.
    [[nodiscard]] QString text(const QFontMetrics& metrics, int room) const;
  };
  [[nodiscard]] std::vector<Label> merged(double line) const;

  QCustomPlot& plot_;
  std::vector<End> ends_;
  QColor neutral_;
  std::vector<QCPItemText*> items_;  ///< the plot's own
};

}  // namespace attnscope::ui
