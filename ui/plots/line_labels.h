// SPDX-License-Identifier: GPL-3.0-or-later
// Labels at the right ends of curves. Curves with coinciding ends share one label: "FA2, FA3 · DRAM". The device is
// added if the curves of an algorithm end at different places: "FA1 on A100 80GB · DRAM". A curve that ends earlier is
// labeled at its end.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/curve_series.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

class LineLabels {
 public:
  explicit LineLabels(QCustomPlot& plot) : plot_(plot) {}

  /// Adds one label per owner and quantity of the measured curves of the newest runs. The plot's items must have been
  /// cleared since the last call.
  void set(const std::vector<Curve>& curves, const PlotColors& colors);
  /// Width in pixels that the labels need to the right of the axes; 0 if the plot is too narrow.
  [[nodiscard]] int required_width(int plot_width) const;
  /// Places the labels at the curve ends, for the current axes.
  void place();
  [[nodiscard]] QStringList texts() const;

 private:
  struct Owner {
    QString name;    ///< "FA2"
    QString device;  ///< Empty if all curves have one device.

    bool operator==(const Owner&) const = default;
  };
  struct CurveEnd {
    Owner owner;
    QString quantity;
    QColor color;
    std::vector<QPointF> points;  ///< N and value, ascending in N.
  };
  struct Label {
    std::vector<Owner> owners;
    QString quantity;
    QColor color;
    QPointF end;  ///< In pixels.
    double y = 0;
    bool inside = false;  ///< The curve ends early, so the label is inside the axes.
  };
  [[nodiscard]] std::vector<Label> merge_labels(double line) const;
  /// "FA1, FA2 on H200". `brief`: shortens a device to its first word if that is unique.
  [[nodiscard]] QString names_of(const Label& label, bool brief) const;
  /// Text that fits into `room` pixels: first devices are shortened, then names; the quantity stays.
  [[nodiscard]] QString text_of(const Label& label, const QFontMetrics& metrics, int room) const;
  /// Maximum width of names in that font.
  [[nodiscard]] static int max_name_width(const QFontMetrics& metrics);

  QCustomPlot& plot_;
  std::vector<CurveEnd> ends_;
  QColor neutral_;
  std::vector<QCPItemText*> items_;
};

}  // namespace attnscope::ui
