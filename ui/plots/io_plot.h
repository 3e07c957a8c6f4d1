// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes or time against N, log-log, or TFLOP/s over a logarithmic N, or any metric against any axis: curves, failed
// points, the L2's limits and the kernels' shares on one widget, with zoom, read-out and clicks. One colour an
// algorithm; marks as in curve_style.h.
#pragma once

#include <qcustomplot.h>

#include <set>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/frame_plot.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/io_hover.h"
#include "ui/plots/kernel_stacks.h"
#include "ui/plots/line_labels.h"
#include "ui/plots/plot_legend.h"
#include "ui/plots/ratio_bracket.h"
#include "ui/plots/residual_panel.h"

namespace attnscope::ui {

class IoPlot : public FramePlot {
  Q_OBJECT
 public:
  explicit IoPlot(QWidget* parent = nullptr);

  /// `stacks`: also draws the kernels of multi-kernel algorithms in a panel below. `keep_view` leaves a zoom as it is.
  void set_curves(const CurveSet& set, bool stacks, bool keep_view);
  void reset_view();
  /// How far theory lies off, in a panel below, in place of the kernels' shares; and the ceilings of the devices.
  void set_extras(bool residuals, bool peaks);
  /// `automatic`: logarithmic, but rates and places of words.
  enum class Scale { automatic, logarithmic, linear };
  void set_scales(Scale x, Scale y);
  /// As Shift and a click on a point or a key of the legend: two curves have a bracket between them.
  void pick(const QString& curve, double near);
  [[nodiscard]] const RatioBracket& bracket() const { return bracket_; }
  [[nodiscard]] const ResidualPanel& residuals() const { return residuals_; }
  /// Whether the panel is wanted and the plot too low for it; the legend says so.
  [[nodiscard]] bool residuals_folded() const { return residuals_shown_ && low_; }
  /// Curves that are hidden, by their labels; the legend says how many.
  [[nodiscard]] const std::set<QString>& hidden() const { return hidden_; }
  /// As a click on an entry of the legend, with the curves that it stands for: hides them; where all are, shows them.
  void toggle(const QStringList& curves);
  /// As Ctrl and a click: all others are hidden; where they are already, all are shown.
  void isolate(const QStringList& curves);
  [[nodiscard]] const PlotLegend& plot_legend() const { return legend_; }
  /// The names at the curves' ends, from the top.
  [[nodiscard]] QStringList line_labels() const { return labels_.texts(); }
  /// True once the user has zoomed or dragged, until the view is reset.
  [[nodiscard]] bool user_view() const { return user_view_; }
  /// Stands below pictures in files: source_note().
  void set_source(const QString& source) { source_ = source; }
  /// Rings the marks of a point; false where no curve in sight has it.
  bool select(const ShownPoint& point);
  /// Draws the plot as for a file into `area` of a painter.
  void render(QCPPainter& painter, const QRect& area);
  // As save_file(): the error, empty when the file is written.
  [[nodiscard]] QString save_png(const QString& file, const QSize& size, double scale = 2);
  [[nodiscard]] QString save_svg(const QString& file, const QSize& size);
  [[nodiscard]] QString save_pdf(const QString& file, const QSize& size);

  /// Shows the read-out at the N nearest to a position; false when nothing is near.
  bool hover_at(const QPointF& position);
  [[nodiscard]] const HoverContent* hover_content() const { return overlay_->content(); }

 signals:
  void point_clicked(const attnscope::ui::ShownPoint& point);
  /// A bracket was clicked, and its sentence is on the clipboard.
  void ratio_copied(const QString& words);

 protected:
  bool event(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void rebuild();
  void redraw();
  [[nodiscard]] bool is_hidden(const Curve& curve) const { return hidden_.contains(curve.label); }
  bool draw_selection();
  void click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers);
  /// What is drawn: the set without what is hidden.
  [[nodiscard]] CurveSet in_sight() const;
  void make_room_for_labels(int width);
  /// What a plot of that height has room for.
  void fit_height(int height);
  /// After a click on a point, the crosshair's next N selects the point of the same curve there.
  void select_at(double n);
  void style_axes();
  void name_general_axes();
  void add_peaks();
  [[nodiscard]] bool log_x() const;
  [[nodiscard]] bool log_y() const;
  /// A click with Shift: picks the curve of the point there.
  bool pick_at(const QPointF& position);
  void name_axes();
  /// Shortens the title to a plot of that width.
  void fit_title(int width);
  /// The point whose mark is nearest to a position; none when none is near.
  [[nodiscard]] std::optional<Row> row_at(const QPointF& position) const;
  /// Lays the plot out as a picture of that size, with its source below, while `draw` runs.
  template <class Draw>
  auto with_layout_for(const QSize& size, Draw draw);

  CurveSet set_;
  CurveSet shown_;  ///< in_sight()
  std::set<QString> hidden_;
  QString source_;
  bool stacks_shown_ = false;
  QCPTextElement* title_ = nullptr;
  PlotLegend legend_{*this};
  LineLabels labels_{*this};
  KernelStacks stacks_;
  ResidualPanel residuals_;
  RatioBracket bracket_{*this};
  bool residuals_shown_ = false;
  bool low_ = false;  ///< with a panel below, the plot itself would be no plot
  bool peaks_shown_ = true;
  Scale x_scale_ = Scale::automatic;
  Scale y_scale_ = Scale::automatic;
  HoverOverlay* overlay_ = nullptr;
  std::vector<HoverColumn> columns_;
  std::vector<double> failed_heights_;  ///< of shown_.failed, as shares of the axes' height from the top
  bool user_view_ = false;
  int current_column_ = -1;
  struct Followed {
    analysis::SeriesName name;
    Quantity quantity = Quantity::sm_l2;
    Provenance provenance = Provenance::measured;
  };
  std::optional<ShownPoint> selected_;
  QCPGraph* ring_ = nullptr;          ///< around its marks
  std::optional<Followed> followed_;  ///< the curve whose point was clicked
  QPoint press_position_;
};

}  // namespace attnscope::ui
