// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes or time against N, log-log, or TFLOP/s over a logarithmic N. Measured: filled marks on solid lines. Simulated:
// hollow discs and squares on dotted lines. Imported: hollow diamonds and triangles on dash-dotted lines. Theory:
// dashed lines without marks. Times and rates of throttled clocks: half-filled discs. One colour an algorithm.
#pragma once

#include <qcustomplot.h>

#include <map>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/hover_overlay.h"

namespace attnscope::ui {

class IoPlot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit IoPlot(QWidget* parent = nullptr);

  /// `stacks`: also draws the kernels of multi-kernel algorithms in a panel below. `keep_view` leaves a zoom as it is.
  void set_curves(const CurveSet& set, bool stacks, bool keep_view);
  void reset_view();
  /// True once the user has zoomed or dragged, until the view is reset.
  [[nodiscard]] bool user_view() const { return user_view_; }
  // As save_file(): the error, empty when the file is written.
  [[nodiscard]] QString save_png(const QString& file, const QSize& size, double scale = 2);
  [[nodiscard]] QString save_svg(const QString& file, const QSize& size);
  [[nodiscard]] QString save_pdf(const QString& file, const QSize& size);

  /// Shows the read-out at the N nearest to a position; false when nothing is near.
  bool hover_at(const QPointF& position);
  [[nodiscard]] const HoverContent* hover_content() const { return overlay_->content(); }

 signals:
  void point_clicked(const attnscope::ui::ShownPoint& point);

 protected:
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void rebuild();
  void style_axes();
  void add_curve(const Curve& curve);
  void add_throttled(const Curve& curve);
  void add_throttled_sample();
  void add_failed();
  [[nodiscard]] double shortest_length() const;
  void add_boundaries();
  void add_stacks();
  void prepare_hover();
  void lay_out_legend(int width);
  /// Lays the legend out for a picture of that size while `draw` runs.
  template <class Draw>
  QString with_layout_for(const QSize& size, Draw draw);
  void draw_vectors(QPaintDevice& device, const QSize& size);

  CurveSet set_;
  bool stacks_shown_ = false;
  QCPTextElement* title_ = nullptr;
  QCPLayoutGrid* legend_grid_ = nullptr;
  QCPAxisRect* stack_rect_ = nullptr;
  HoverOverlay* overlay_ = nullptr;
  struct LegendEntry {
    QString group;
    QCPAbstractPlottable* plottable;
  };
  std::vector<LegendEntry> legend_entries_;
  struct BoundaryItems {
    QCPItemText* label;
    double n;
  };
  std::vector<BoundaryItems> boundary_items_;
  struct HoverColumn {
    double n = 0;
    HoverContent content;
  };
  std::vector<HoverColumn> columns_;    ///< ascending n
  std::vector<double> failed_heights_;  ///< of set_.failed, as shares of the axes' height from the top
  bool user_view_ = false;
  int current_column_ = -1;
  QPoint press_position_;
};

}  // namespace attnscope::ui
