// SPDX-License-Identifier: GPL-3.0-or-later
// A legend below the axes, in columns: one a group of entries where the groups fit side by side, else as many as fit.
#pragma once

#include <qcustomplot.h>

#include <vector>

namespace attnscope::ui {

class PlotLegend {
 public:
  explicit PlotLegend(QCustomPlot& plot) : plot_(plot) {}

  /// Entries appear in this order; those of one group stand together. The plottable stays the plot's.
  void add(const QString& group, QCPAbstractPlottable* plottable) { entries_.push_back({group, plottable}); }
  /// Forgets the entries; what is laid out stays until the next lay_out() or remove().
  void clear() { entries_.clear(); }
  /// Makes the legend anew as the last row of the plot's layout, for a plot of that width.
  void lay_out(int width);
  /// Takes the legend off the plot's layout, which frees its row.
  void remove();

 private:
  struct Entry {
    QString group;
    QCPAbstractPlottable* plottable;
  };
  QCPLegend* add_box();

  QCustomPlot& plot_;
  std::vector<Entry> entries_;
  QCPLegend* box_ = nullptr;
};

}  // namespace attnscope::ui
