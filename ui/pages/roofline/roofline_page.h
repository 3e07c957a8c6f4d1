// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs and ceilings of their device, log-log, and their controls. Roofs are gray; each label names
// its source. The roof of the other memory level is faint. Next to a mark: a thin vertical dash at the modeled
// intensity, and a thin line to the executed FLOPs.
#pragma once

#include <QLabel>
#include <vector>

#include "ui/pages/problem_page.h"
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
  bool hover_at(const QPointF& position) override;

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;
  [[nodiscard]] QStringList series_keys() const override;
  [[nodiscard]] LegendContent legend_content() const override;

 private:
  void find_marks();
  QCPGraph* add_roof_line(const QPen& pen);
  void draw_roof(const analysis::Roof& roof);
  void draw_ceiling(const analysis::Roof& roof);
  void draw_series(std::size_t place);
  void draw_marks(std::size_t place);
  void draw_theory(std::size_t place);
  void label_ends(std::size_t place);
  /// Returns the highest rate of the drawn points and its share of the nearest roof; empty without points.
  [[nodiscard]] QString headline_of_marks() const;
  [[nodiscard]] QStringList notes() const;
  /// N of the legend's values: under the pointer, else the last one.
  [[nodiscard]] std::optional<std::int64_t> legend_length() const;
  [[nodiscard]] QColor color_of(std::size_t series) const;
  [[nodiscard]] QPen pen_of(std::size_t series) const;
  [[nodiscard]] Sample sample_of_point(std::size_t series, const RooflinePoint& point) const;
  /// In FLOP/s.
  [[nodiscard]] Extent ceilings() const;
  [[nodiscard]] const RooflineSeries& series_of(const Mark& mark) const { return set_.report.series[mark.series]; }
  [[nodiscard]] const RooflinePoint& point_of(const Mark& mark) const { return series_of(mark).points[mark.point]; }

  RooflineSet set_;
  std::optional<std::int64_t> hovered_n_;
  RooflineLabels labels_{*this};
};

class RooflinePage : public ProblemPage {
  Q_OBJECT
 public:
  explicit RooflinePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return has_plot(); }
  [[nodiscard]] ShownValues values() const override { return values_of(roofline_table(set_)); }

  [[nodiscard]] RooflinePlot* plot() const { return plot_; }
  [[nodiscard]] const RooflineSet& shown() const { return *set_; }

 protected:
  void show_problem() override { refresh(); }
  void follow(const ShownPoint& point) override;
  bool show_mark(const ShownPoint& point, bool /*moves*/) override { return plot_->select(point) && has_plot(); }

 private:
  void add_controls();
  void build_content();
  void refresh();
  void show_roofline();
  [[nodiscard]] std::vector<Row> drawn_rows() const;
  void refresh_devices();
  void offer_levels();
  [[nodiscard]] EmptyStateText no_plot_text();
  void show_skipped();
  [[nodiscard]] analysis::RooflineRequest request() const;
  [[nodiscard]] RooflineLevel level() const { return level_.value(); }

  Choice<RooflineLevel> level_;
  IdChoice device_;
  std::shared_ptr<const RooflineSet> set_ = std::make_shared<const RooflineSet>();
  QString gpu_;
  std::vector<Ceiling> ceilings_;
  bool ceilings_of_same_device_ = true;  ///< The ceilings were measured on the shown device itself.
  RooflinePlot* plot_ = nullptr;
  QLabel* skipped_label_ = nullptr;
};

}  // namespace attnscope::ui
