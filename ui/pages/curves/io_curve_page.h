// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes, time or rate over N, or any metric over any axis: the controls around an IoPlot.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/pages/curves/curve_graphs.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/problem_page.h"
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

class IoCurvePage : public ProblemPage {
  Q_OBJECT
 public:
  explicit IoCurvePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return has_plot(); }
  [[nodiscard]] ShownValues values() const override { return values_of(plot_->shown()); }
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;

  [[nodiscard]] IoPlot* plot() const { return plot_; }
  [[nodiscard]] const CurveSet& curves() const { return curves_; }
  /// Returns whether the plot is over N, with theory for bytes, time and rate.
  [[nodiscard]] bool is_over_n() const;
  /// `name`: registry name of the algorithm, or name of an imported program.
  void show_algorithm(const QString& name, bool on);
  [[nodiscard]] const MultiChoiceChip& algorithms() const { return *algorithms_; }

 protected:
  void show_problem() override { refresh(false); }
  void show_choices() override;
  void rebuild_page() override { refresh(true); }
  bool show_mark(const ShownPoint& point, bool /*moves*/) override { return has_plot() && plot_->select(point); }

 private:
  struct Scales {
    IoPlot::Scale y;
    IoPlot::Scale x;
    bool operator==(const Scales&) const = default;
  };
  /// Updates the axes, including those for knobs of user-defined kernels in open files.
  void update_axes();
  void add_choices();
  void add_toggles();
  /// Updates the plot from the visible points and the choices; ends in show_curves().
  void refresh(bool keep_view);
  void show_curves(bool keep_view);
  [[nodiscard]] std::optional<EmptyStateText> no_plot_text();
  void refresh_algorithms();
  void refresh_tiles();
  void update_toggles();
  [[nodiscard]] CurveRequest request() const;
  [[nodiscard]] TileSelection tile_selection() const;
  /// Metric of a plot over other axes: the chosen one, or that of the ordinate.
  [[nodiscard]] std::string shown_metric() const;
  [[nodiscard]] const analysis::PointAxis* axis() const;
  [[nodiscard]] analysis::FacetPtr group() const;
  /// Key of the plotted metric; empty if an ordinate is plotted.
  [[nodiscard]] QString metric_key() const;
  void resolve_axis_conflict();
  void offer_plots();
  void offer_axes();
  void register_choices();
  [[nodiscard]] static std::vector<Choice<Scales>::Value> all_scales();

  CurveSet curves_;
  IdChoice tile_;  ///< Kept even if no current point has this tile.
  Ordinate ordinate_ = Ordinate::bytes;
  IdChoice plotted_quantity_;  ///< Id of an ordinate, or key of a metric.
  IdChoice axis_;              ///< Key; empty: N.
  IdChoice group_;             ///< Key; empty: none.
  Choice<Quantity> level_;     ///< Memory level of bytes.
  FacetChip* level_chip_ = nullptr;
  Choice<Scales> scale_;
  std::vector<analysis::PointAxis> axes_;
  std::vector<analysis::PointAxis> varying_;  ///< Axes along which the points vary.
  std::vector<Config> tiles_;
  std::vector<analysis::KnobValueChoice> swept_;
  MultiChoiceChip* algorithms_ = nullptr;
  std::vector<MultiChoiceChip::Item> offered_algorithms_;  ///< Registry algorithms, then imported programs.
  std::set<QString> hidden_;  ///< Algorithms switched off, including those not offered now.
  bool keep_view_ = false;    ///< The pending update keeps the user's zoom.
  QString shown_stem_;        ///< file_stem() of the shown curves.
  QAction* model_ = nullptr;
  QAction* compulsory_ = nullptr;
  QAction* boundary_ = nullptr;
  QAction* residuals_ = nullptr;
  IoPlot* plot_ = nullptr;
};

}  // namespace attnscope::ui
