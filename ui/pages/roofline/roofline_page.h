// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs of their device: the controls around a RooflinePlot, and the table of bounds below.
#pragma once

#include <QLabel>
#include <optional>
#include <vector>

#include "ui/pages/plot_table_page.h"
#include "ui/pages/roofline/roofline_plot.h"

namespace attnscope::ui {

class RooflinePage : public PlotTablePage {
  Q_OBJECT
 public:
  explicit RooflinePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return has_plot(); }
  /// Values of the table, also if it is hidden.
  [[nodiscard]] ShownValues values() const override { return table()->values(); }

  void set_level(RooflineLevel level) { level_.choose(level); }
  [[nodiscard]] RooflinePlot* plot() const { return plot_; }
  [[nodiscard]] const RooflineSet& shown() const { return *set_; }

 protected:
  void show_problem() override { refresh(); }
  [[nodiscard]] Collection collection() const override;
  void follow(const ShownPoint& point) override;
  void show_choices() override;
  bool show_mark(const ShownPoint& point, bool moves) override;
  [[nodiscard]] int max_table_height() const override;

 private:
  void add_controls();
  void add_content();
  /// Updates from the visible points and the choices; ends in show_roofline().
  void refresh();
  void show_roofline();
  void show_table();
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
  ResultModel* model_ = nullptr;
  QAction* table_shown_ = nullptr;
  QLabel* skipped_label_ = nullptr;
};

}  // namespace attnscope::ui
