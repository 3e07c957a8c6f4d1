// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs and ceilings of their device, log-log. A roof that was measured is solid, a datasheet's
// dashed, an estimate dotted, and each says so in words. The roof of the other level's bytes is faint. Beside a mark:
// an upright dash at the closed form's intensity, and a line to where executed FLOPs put it.
#pragma once

#include "ui/pages/roofline/roofline_labels.h"
#include "ui/pages/roofline/roofline_set.h"
#include "ui/plots/legend_plot.h"
#include "ui/plots/plot_parts.h"

namespace attnscope::ui {

class RooflinePlot : public LegendPlot {
  Q_OBJECT
 public:
  explicit RooflinePlot(QWidget* parent = nullptr);

  void set_roofline(RooflineSet set);
  /// Names of roofs and ceilings, and the lengths at the ends of series, as they stand in the plot.
  [[nodiscard]] QStringList labels() const { return labels_.texts(); }
  void reset_view() override;

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;
  [[nodiscard]] QStringList names() const override;
  /// The title in two lines where one has no room for it and the plot is high enough.
  void lay_out(const QSize& size, PlotTarget target) override;

 private:
  void find_marks();
  QCPGraph* add_roof_line(const QPen& pen);
  void draw_roof(const analysis::Roof& roof);
  void draw_ceiling(const analysis::Roof& roof);
  void draw_series(std::size_t place);
  void draw_marks(std::size_t place);
  void draw_theory(std::size_t place);
  void name_ends(std::size_t place);
  void add_keys();
  void add_key_of(const Message& words, const QPen& pen, const QCPScatterStyle& scatter = {});
  [[nodiscard]] QColor color_of(std::size_t series) const;
  /// FLOP/s of the ceilings.
  [[nodiscard]] Extent ceilings() const;
  [[nodiscard]] const RooflineSeries& series_of(const Mark& mark) const { return set_.report.series[mark.series]; }
  [[nodiscard]] const RooflinePoint& point_of(const Mark& mark) const { return series_of(mark).points[mark.point]; }

  RooflineSet set_;
  RooflineLabels labels_{*this};
};

}  // namespace attnscope::ui
