// SPDX-License-Identifier: GPL-3.0-or-later
// IO, time or rate against N, or any metric against any axis: the controls around an IoPlot.
#pragma once

#include <memory>
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
  void set_ordinate(Ordinate ordinate);
  /// Any metric, by its key; empty: the ordinate.
  void set_metric(const QString& key);
  /// By the key of an axis ("n", "br"), and of a facet that curves are grouped by; empty: none.
  void set_axis(const QString& key);
  void set_group(const QString& key) { group_.choose(key); }
  /// "automatic", or "log linear": the vertical axis before the horizontal one.
  void set_scale(const QString& word) { scale_.choose(word); }
  /// Whether the plot is of N, with the theory of bytes, time and rate, and not of other axes.
  [[nodiscard]] bool over_n() const;
  void set_residuals(bool on) { residuals_->setChecked(on); }
  /// By its name in the registry, or another program's.
  void show_algorithm(const std::string& name, bool on);
  /// Shows this algorithm alone; where it is alone already, all.
  void isolate(const std::string& name);
  [[nodiscard]] const SetChip& algorithms() const { return *algorithms_; }

 protected:
  void show_problem() override { refresh(false); }
  void show_choices() override;
  void show_points() override { refresh(true); }
  bool show_mark(const ShownPoint& point, bool /*moves*/) override { return has_plot() && plot_->select(point); }

 private:
  struct Scales {
    IoPlot::Scale y;
    IoPlot::Scale x;
    bool operator==(const Scales&) const = default;
  };
  /// Also those of knobs that an open file made known.
  void know_axes();
  void add_choices();
  void add_toggles();
  void add_plot();
  /// Of what is visible and chosen by now; ends in show_curves().
  void refresh(bool keep_view);
  void show_curves(bool keep_view);
  /// What stands in place of the plot; nothing when it is the plot.
  [[nodiscard]] std::optional<EmptyWords> words_instead() const;
  void refresh_algorithms();
  void show_algorithms();
  void refresh_tiles();
  void show_toggles();
  [[nodiscard]] CurveRequest request() const;
  [[nodiscard]] TileSelection tile_selection() const;
  [[nodiscard]] Ordinate ordinate() const { return ordinate_; }
  /// The metric of a plot over other axes: the chosen one, or the ordinate's own.
  [[nodiscard]] std::string shown_metric() const;
  [[nodiscard]] const analysis::PointAxis* axis() const;
  [[nodiscard]] analysis::FacetPtr group() const;
  void narrow_to_axes();
  /// What is plotted that is no ordinate; empty else.
  [[nodiscard]] QString metric_key() const;
  /// Both cannot be of one axis.
  void part_axis_and_group();
  void offer_plots();
  void offer_axes();
  void keep_choices();
  [[nodiscard]] static std::vector<Choice<Scales>::Value> all_scales();

  CurveSet curves_;
  IdChoice tile_;                        ///< comes back when the points have it again
  Ordinate ordinate_ = Ordinate::bytes;  ///< the last one that was plotted
  IdChoice plotted_;                     ///< an ordinate's word, or a metric's key
  IdChoice axis_;                        ///< its key; empty: N
  IdChoice group_;                       ///< its key; empty: none
  Choice<Scales> scale_;
  std::vector<analysis::PointAxis> axes_;     ///< all that there are
  std::vector<analysis::PointAxis> varying_;  ///< those along which the points lie
  std::vector<Config> tiles_;
  std::vector<analysis::SweptValue> swept_;
  SetChip* algorithms_ = nullptr;
  struct Offered {
    std::string name;
    bool shown = false;  ///< some point has what the plot shows
    QString help = {};
  };
  std::vector<Offered> offered_;  ///< the registry's, then those of other programs
  std::set<std::string> hidden_;  ///< algorithms switched off, also those that are not offered so far
  bool keeps_view_ = false;       ///< what is looked through is shown in the view that the user has chosen
  QAction* dram_ = nullptr;
  QAction* sm_l2_ = nullptr;
  QAction* model_ = nullptr;
  QAction* compulsory_ = nullptr;
  QAction* boundary_ = nullptr;
  QAction* residuals_ = nullptr;
  IoPlot* plot_ = nullptr;
};

}  // namespace attnscope::ui
