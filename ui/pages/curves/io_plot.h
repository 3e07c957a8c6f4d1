// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes or time over N (log-log), TFLOP/s over N (log x), or any metric over any axis: one panel per GPU on common
// axes, with strips for ratios below. A crosshair through all panels sets the values in the legend.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/pages/curves/curve_legend.h"
#include "ui/plots/legend_plot.h"
#include "ui/plots/line_labels.h"
#include "ui/plots/plot_parts.h"

namespace attnscope::ui {

struct MarkShifts;

class IoPlot : public LegendPlot {
  Q_OBJECT
 public:
  explicit IoPlot(QWidget* parent = nullptr);

  /// `automatic`: logarithmic, except for rates and text axes.
  enum class Scale { automatic, logarithmic, linear };
  struct Options {
    Scale x = Scale::automatic;
    Scale y = Scale::automatic;
    bool residuals = false;  ///< Strips with measured over modeled values.
  };
  void set_curves(const CurveSet& set, const Options& options, bool keep_view);
  void reset_view() override;
  /// Drawn curves: the set without hidden ones.
  [[nodiscard]] const CurveSet& shown() const { return shown_; }
  [[nodiscard]] const std::vector<QCPAxisRect*>& panels() const { return panels_; }
  /// Strips of measured over modeled values, one per panel; empty: not shown.
  [[nodiscard]] const std::vector<QCPAxisRect*>& residuals() const { return residuals_; }
  /// Strips of ratios between panels or runs; empty: not shown.
  [[nodiscard]] const std::vector<QCPAxisRect*>& ratios() const { return ratios_; }
  /// Labels at the curve ends, top to bottom.
  [[nodiscard]] QStringList line_labels() const;
  /// Moves the crosshair to the N nearest to a position, and shows the read-out of a mark there. Returns false if no N
  /// is near.
  bool hover_at(const QPointF& position) override;

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;
  [[nodiscard]] QStringList series_keys() const override;
  [[nodiscard]] LegendContent legend_content() const override;
  void fit(const QSize& size, PlotTarget target) override;
  void redraw() override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  /// Arrangement of panels, which depends on the size.
  struct Shape {
    int columns = 1;
    bool strips = true;
    bool operator==(const Shape&) const = default;
  };
  [[nodiscard]] Shape shape_for(const QSize& size, PlotTarget target) const;
  [[nodiscard]] CurveSet visible_curves() const;
  void build_panels();
  QCPAxisRect* add_panel(std::size_t place);
  QCPAxisRect* add_strip(QCPLayoutGrid& grid, int row, int column, const QString& label);
  void build_strips();
  void follow_range(QCPAxis* axis);
  void draw_panel(std::size_t place, const MarkShifts& shifts);
  void find_marks(const MarkShifts& shifts);
  /// `axes`: space of all panels.
  void reserve_label_width(const QSize& axes);
  [[nodiscard]] std::optional<std::size_t> panel_at(const QPointF& position) const;
  void move_crosshair(std::optional<double> n, std::size_t panel);
  [[nodiscard]] bool log_x() const;
  [[nodiscard]] bool log_y() const;
  void set_axis_labels();
  void set_metric_axis_labels();
  void set_n_axis_labels();

  CurveSet set_;
  CurveSet shown_;
  CurveLegend legend_values_{set_};
  QCPAxisRect* main_;  ///< First panel; its axes are xAxis and yAxis.
  QCPLayoutGrid* outer_;
  QCPLayoutGrid* grid_ = nullptr;
  std::vector<QCPAxisRect*> panels_;
  std::vector<QCPAxisRect*> residuals_;
  std::vector<QCPAxisRect*> ratios_;
  std::vector<std::unique_ptr<QCPMarginGroup>> margins_;  ///< One per panel and the strips below it.
  std::vector<std::unique_ptr<LineLabels>> labels_;
  Shape shape_;
  bool following_ = false;  ///< A range is copied to the other panels.
  Options options_;
  std::optional<double> crosshair_;
  std::size_t crosshair_panel_ = 0;
};

}  // namespace attnscope::ui
