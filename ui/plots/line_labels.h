// SPDX-License-Identifier: GPL-3.0-or-later
// Names at the right ends of curves, so that no eye has to go to a legend and back. Names of curves that end on one
// another are one label: "FA2, FA3 · DRAM". An algorithm has its device beside it where it does not end there on all of
// them: "FA1 on A100 80GB · DRAM". A curve that ends earlier than the others has its name there.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

class LineLabels {
 public:
  explicit LineLabels(QCustomPlot& plot) : plot_(plot) {}

  /// One name for each owner and quantity of the measured curves that no newer run leads, after the first of them.
  /// The plot's items must have been cleared since the last call.
  void set(const std::vector<Curve>& curves, const PlotColors& colors);
  /// Room to the right of the axes that the labels take in a plot of that width; 0: the plot is too narrow for any.
  [[nodiscard]] int room(int plot_width) const;
  /// Puts them beside the curves' ends as the axes are now laid out.
  void place();
  /// What stands there, from the top.
  [[nodiscard]] QStringList texts() const;

 private:
  struct Owner {
    QString name;    ///< "FA2"
    QString device;  ///< empty where all are of one

    bool operator==(const Owner&) const = default;
  };
  struct End {
    Owner owner;
    QString quantity;
    QColor color;
    std::vector<QPointF> points;  ///< N and value, by N
  };
  struct Label {
    std::vector<Owner> owners;
    QString quantity;
    QColor color;
    QPointF end;          ///< pixels
    double y = 0;         ///< of its middle, once it is placed
    bool inside = false;  ///< its curve ends before the others do: it stands there
  };
  [[nodiscard]] std::vector<Label> merged(double line) const;
  /// Whose ends these are: "FA1, FA2 on H200". `brief`: of devices the first word, where no other begins with it.
  [[nodiscard]] QString names_of(const Label& label, bool brief) const;
  /// Within so many pixels: devices become brief, then names give way; the quantity stays.
  [[nodiscard]] QString text_of(const Label& label, const QFontMetrics& metrics, int room) const;
  /// What names may take at most in that font.
  [[nodiscard]] static int most_room(const QFontMetrics& metrics);

  QCustomPlot& plot_;
  std::vector<End> ends_;
  QColor neutral_;
  std::vector<QCPItemText*> items_;  ///< the plot's own
};

}  // namespace attnscope::ui
