// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes or time over N (log-log), TFLOP/s over N (log x), or any metric over any axis: curves, failed points and L2
// bands, with zoom, read-out and clicks. One color per algorithm; markers as in curve_style.h.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/pages/curves/residual_panel.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/legend_plot.h"
#include "ui/plots/line_labels.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

// Read-outs of a plot over N: for each N, all curve values in descending order, and notes.

struct HoverColumn {
  double n = 0;
  HoverContent content;
};

[[nodiscard]] std::vector<HoverColumn> build_hover_columns(const CurveSet& set, const PlotColors& colors);

class IoPlot : public LegendPlot {
  Q_OBJECT
 public:
  explicit IoPlot(QWidget* parent = nullptr);

  void set_curves(const CurveSet& set, bool keep_view);
  void reset_view() override;
  /// Drawn curves: the set without hidden ones.
  [[nodiscard]] const CurveSet& shown() const { return shown_; }
  /// Shows the panel with measured over modeled values.
  void set_residuals(bool shown);
  /// `automatic`: logarithmic, except for rates and text axes.
  enum class Scale { automatic, logarithmic, linear };
  void set_scales(Scale x, Scale y);
  [[nodiscard]] const ResidualPanel& residuals() const { return residuals_; }
  /// Returns whether the panel is enabled but does not fit; the legend then has a note.
  [[nodiscard]] bool are_residuals_hidden() const { return residuals_shown_ && low_; }
  /// Labels at the curve ends, top to bottom.
  [[nodiscard]] QStringList line_labels() const { return labels_.texts(); }
  /// Shows the read-out at the N nearest to a position. Returns false if none is near.
  bool hover_at(const QPointF& position) override;

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& /*mark*/) const override { return {}; }
  [[nodiscard]] QStringList names() const override;
  void fit(const QSize& size, PlotTarget target) override;
  void redraw() override;
  void click(const QMouseEvent& event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] CurveSet visible_curves() const;
  void find_marks(const std::vector<double>& failed_heights);
  void reserve_label_width(int width);
  /// Moves the crosshair to `n` and selects the point there of the curve that was clicked last.
  void select_point_at(double n);
  [[nodiscard]] bool log_x() const;
  [[nodiscard]] bool log_y() const;
  void set_axis_labels();
  void set_metric_axis_labels();
  void set_n_axis_labels();

  CurveSet set_;
  CurveSet shown_;
  LineLabels labels_{*this};
  ResidualPanel residuals_{*this};
  bool residuals_shown_ = false;
  bool low_ = false;  ///< Too low for the residual panel.
  Scale x_scale_ = Scale::automatic;
  Scale y_scale_ = Scale::automatic;
  std::vector<HoverColumn> columns_;
  int current_column_ = -1;
  using FollowedCurve = std::tuple<analysis::SeriesName, Quantity, Provenance>;
  [[nodiscard]] static FollowedCurve followed_curve(const Curve& curve) {
    return {curve.name, curve.quantity, curve.provenance};
  }
  std::optional<FollowedCurve> followed_key_;  ///< Curve of the last clicked point.
};

}  // namespace attnscope::ui
