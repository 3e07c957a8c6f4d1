// SPDX-License-Identifier: GPL-3.0-or-later
// One row or column of a heatmap as a curve: the metric against one axis, the other fixed, with its scatter and the
// best of the slice. Steps of the axis stand as far apart as in the map.
#pragma once

#include <qcustomplot.h>

#include "ui/models/heatmap_grid.h"
#include "ui/plots/frame_plot.h"
#include "ui/plots/heatmap_view.h"
#include "ui/text/format.h"

namespace attnscope::ui {

class SlicePlot : public FramePlot {
  Q_OBJECT
 public:
  explicit SlicePlot(QWidget* parent = nullptr);

  void show_slice(const HeatmapGrid& grid, HeatmapView::Line line);
  /// "Time over Bc, at Br 128".
  [[nodiscard]] QString heading() const { return heading_; }

 signals:
  /// A click on a point: its place along the axis.
  void place_clicked(int place);

 protected:
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  void redraw();
  [[nodiscard]] const analysis::MapAxis& along() const { return line_.along_x ? grid_.x : grid_.y; }
  void show_heading();
  void draw_values(const analysis::MapSlice& slice, const UnitScale& unit);
  void draw_best(const analysis::MapSlice& slice, const UnitScale& unit);
  void draw_marks(const analysis::MapSlice& slice, const UnitScale& unit);
  void show_axes(const analysis::MapSlice& slice, const UnitScale& unit);

  HeatmapGrid grid_;
  HeatmapView::Line line_;
  QString heading_;
  QCPTextElement* title_ = nullptr;
};

}  // namespace attnscope::ui
