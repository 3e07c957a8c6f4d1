// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes or time against N, log-log, or TFLOP/s over a logarithmic N, or any metric against any axis: curves, failed
// points and the L2's limits on one widget, with zoom, read-out and clicks. One colour an algorithm; marks as in
// curve_style.h.
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

// What a plot over N reads out at each N: every curve's value, the largest first, and notes. Values in, values out.

struct HoverColumn {
  double n = 0;
  HoverContent content;
};

/// One column for each N at which something was collected, ascending.
[[nodiscard]] std::vector<HoverColumn> build_hover_columns(const CurveSet& set, const PlotColors& colors);

class IoPlot : public LegendPlot {
  Q_OBJECT
 public:
  explicit IoPlot(QWidget* parent = nullptr);

  /// `keep_view` leaves a zoom as it is.
  void set_curves(const CurveSet& set, bool keep_view);
  void reset_view() override;
  /// What is drawn: the set without what is hidden.
  [[nodiscard]] const CurveSet& shown() const { return shown_; }
  /// How far theory lies off, in a panel below.
  void set_residuals(bool shown);
  /// `automatic`: logarithmic, but rates and places of words.
  enum class Scale { automatic, logarithmic, linear };
  void set_scales(Scale x, Scale y);
  [[nodiscard]] const ResidualPanel& residuals() const { return residuals_; }
  /// Whether the panel is wanted and the plot too low for it; the legend says so.
  [[nodiscard]] bool residuals_folded() const { return residuals_shown_ && low_; }
  /// The names at the curves' ends, from the top.
  [[nodiscard]] QStringList line_labels() const { return labels_.texts(); }
  /// Shows the read-out at the N nearest to a position; false when nothing is near.
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
  [[nodiscard]] CurveSet in_sight() const;
  void find_marks(const std::vector<double>& failed_heights);
  void make_room_for_labels(int width);
  /// After a click on a point, the crosshair's next N selects the point of the same curve there.
  void select_at(double n);
  [[nodiscard]] bool log_x() const;
  [[nodiscard]] bool log_y() const;
  void name_axes();
  void name_axes_of_metric();
  void name_axes_over_n();

  CurveSet set_;
  CurveSet shown_;  ///< in_sight()
  LineLabels labels_{*this};
  ResidualPanel residuals_{*this};
  bool residuals_shown_ = false;
  bool low_ = false;  ///< with a panel below, the plot itself would be no plot
  Scale x_scale_ = Scale::automatic;
  Scale y_scale_ = Scale::automatic;
  std::vector<HoverColumn> columns_;
  int current_column_ = -1;
  using Followed = std::tuple<analysis::SeriesName, Quantity, Provenance>;
  [[nodiscard]] static Followed followed(const Curve& curve) { return {curve.name, curve.quantity, curve.provenance}; }
  std::optional<Followed> followed_;  ///< the curve whose point was clicked
};

}  // namespace attnscope::ui
