// SPDX-License-Identifier: GPL-3.0-or-later
// A zoomable plot with a legend table, right of the axes or below them if the plot is narrow.
#pragma once

#include <qcustomplot.h>
#include <QJsonObject>
#include <set>

#include "ui/plots/legend_table.h"
#include "ui/plots/plot_export.h"
#include "ui/plots/point_plot.h"

namespace attnscope::ui {

class LegendPlot : public PointPlot {
  Q_OBJECT
 public:
  /// Keys of the hidden series.
  [[nodiscard]] const std::set<QString>& hidden() const { return hidden_; }
  /// Hides a series, or shows it if it is hidden.
  void toggle(const QString& series);
  /// Hides all other series; shows all if the others are already hidden.
  void isolate(const QString& series);
  void show_all();
  [[nodiscard]] LegendTable& legend_table() const { return *legend_; }
  virtual void reset_view() = 0;
  /// Returns whether the user has zoomed or dragged since the last reset.
  [[nodiscard]] bool is_user_zoomed() const { return is_user_zoomed_; }
  /// Zoom as {"x": [low, high], "y": [low, high]}; empty if the user has not zoomed.
  [[nodiscard]] QJsonObject zoom() const;
  /// Zoom to use once the plot is drawn; an empty or invalid one removes the zoom.
  void restore_zoom(const QJsonObject& zoom);
  /// Applies the zoom of restore_zoom(). `more`: data is still loading, so the zoom is kept for later.
  void apply_zoom(bool more);

 protected:
  explicit LegendPlot(QWidget* parent);

  /// Keys of all series that can be hidden, hidden ones included.
  [[nodiscard]] virtual QStringList series_keys() const = 0;
  [[nodiscard]] virtual LegendContent legend_content() const = 0;
  /// Shows the current values without a new drawing.
  void update_legend();
  /// Un-hides series that no longer exist.
  void draw_contents() override;
  void lay_out(const QSize& size, PlotTarget target) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  [[nodiscard]] bool is_hidden(const QString& series) const { return hidden_.contains(series); }
  /// Returns the space of title and axes in a plot of that size, without the legend.
  [[nodiscard]] QSize axes_size(const QSize& size, PlotTarget target) const;

  bool is_user_zoomed_ = false;

 private:
  class Box;
  /// Returns the size of the legend; its height is 0 if it is right of the axes.
  [[nodiscard]] QSize legend_size(const QSize& size, PlotTarget target) const;
  void handle_user_zoom();
  void place_legend();

  LegendTable* legend_;
  Box* box_ = nullptr;
  std::set<QString> hidden_;
  QJsonObject pending_zoom_;
};

}  // namespace attnscope::ui
