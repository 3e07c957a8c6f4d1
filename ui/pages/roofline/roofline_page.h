// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs of their device: the controls around a RooflinePlot.
#pragma once

#include <QLabel>
#include <vector>

#include "ui/pages/problem_page.h"
#include "ui/pages/roofline/roofline_plot.h"

namespace attnscope::ui {

class RooflinePage : public ProblemPage {
  Q_OBJECT
 public:
  explicit RooflinePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return has_plot(); }
  /// Achieved rate, intensity and nearest bound of each point.
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
  /// Updates from the visible points and the choices; ends in show_roofline().
  void refresh();
  void show_roofline();
  [[nodiscard]] std::vector<Row> drawn_rows() const;
  void refresh_devices();
  /// Offers links only for a problem of several GPUs.
  void offer_levels();
  [[nodiscard]] EmptyStateText no_plot_text();
  void show_skipped();
  [[nodiscard]] analysis::RooflineRequest request() const;
  [[nodiscard]] RooflineLevel level() const { return level_.value(); }

  Choice<RooflineLevel> level_;
  IdChoice device_;
  std::shared_ptr<const RooflineSet> set_ = std::make_shared<const RooflineSet>();
  QString missing_rates_;  ///< Ceilings that the simulation used and no open file has.
  QString gpu_;
  std::vector<Ceiling> ceilings_;
  bool ceilings_of_same_device_ = true;  ///< The ceilings were measured on the shown device itself.
  RooflinePlot* plot_ = nullptr;
  QLabel* skipped_label_ = nullptr;
};

}  // namespace attnscope::ui
