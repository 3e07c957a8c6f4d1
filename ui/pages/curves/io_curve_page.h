// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes, time or rate over N, or any metric over any axis: the controls around an IoPlot.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "ui/models/curve_series.h"
#include "ui/pages/curves/io_plot.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/problem_page.h"

namespace attnscope::ui {

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
  /// Shows only this algorithm; shows all if it is already the only one.
  void isolate(const QString& name);
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
  /// Text to show instead of the plot; null: show the plot.
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
  /// Resolves a conflict if axis and group are the same.
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
