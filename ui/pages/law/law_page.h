// SPDX-License-Identifier: GPL-3.0-or-later
// Theorem 2 of FlashAttention held to points: the controls around a LawPlot, and the table of exponents below it.
#pragma once

#include <memory>
#include <optional>

#include "ui/models/result_model.h"
#include "ui/pages/law/law_plot.h"
#include "ui/pages/plot_table_page.h"

namespace attnscope::ui {

class LawPage : public PlotTablePage {
  Q_OBJECT
 public:
  explicit LawPage(Workspace& workspace, QWidget* parent = nullptr);

  /// "law-collapse-dram-full-1x132"
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;

  void set_level(LawLevel level) { level_.choose(level); }
  [[nodiscard]] LawPlot* plot() const { return plot_; }
  /// What is shown of the problem chosen.
  [[nodiscard]] const LawSet& laws() const { return laws_; }

 protected:
  void show_problem() override { refresh(); }
  bool show_mark(const ShownPoint& point, bool moves) override;
  [[nodiscard]] int room_for_table() const override { return height() * 2 / 5; }

 private:
  /// Of what is visible and chosen by now; ends in show_laws().
  void refresh();
  void show_laws();
  /// Fills the table.
  void show_table();

  Choice<LawLevel> level_;
  std::vector<LawFamily> families_;  ///< of all that is visible
  LawSet laws_;
  LawPlot* plot_ = nullptr;
  ResultModel* model_ = nullptr;
};

}  // namespace attnscope::ui
