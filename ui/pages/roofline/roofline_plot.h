// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs and ceilings of their device, log-log. Measured roofs are solid, datasheet roofs dashed,
// estimates dotted; each label names its source. The roof of the other memory level is faint. Next to a mark: a
// vertical dash at the modeled intensity, and a line to the executed FLOPs.
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
  /// Visible labels: roofs, ceilings, and lengths at the ends of series.
  [[nodiscard]] QStringList labels() const { return labels_.texts(); }
  void reset_view() override;

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;
  [[nodiscard]] QStringList names() const override;
  /// Splits the title into two lines if one is too narrow and the plot is high enough.
  void lay_out(const QSize& size, PlotTarget target) override;

 private:
  void find_marks();
  QCPGraph* add_roof_line(const QPen& pen);
  void draw_roof(const analysis::Roof& roof);
  void draw_ceiling(const analysis::Roof& roof);
  void draw_series(std::size_t place);
  void draw_marks(std::size_t place);
  void draw_theory(std::size_t place);
  void label_ends(std::size_t place);
  void add_keys();
  void add_key_entry(const Message& words, const QPen& pen, const QCPScatterStyle& scatter = {});
  [[nodiscard]] QColor color_of(std::size_t series) const;
  /// FLOP/s of the ceilings.
  [[nodiscard]] Extent ceilings() const;
  [[nodiscard]] const RooflineSeries& series_of(const Mark& mark) const { return set_.report.series[mark.series]; }
  [[nodiscard]] const RooflinePoint& point_of(const Mark& mark) const { return series_of(mark).points[mark.point]; }

  RooflineSet set_;
  RooflineLabels labels_{*this};
};

}  // namespace attnscope::ui
