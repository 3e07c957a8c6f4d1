// SPDX-License-Identifier: GPL-3.0-or-later
// Compares points with Theorem 2 of FlashAttention: the controls around a LawPlot, and its table of exponents.
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

  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;

  void set_level(LawLevel level) { level_.choose(level); }
  [[nodiscard]] LawPlot* plot() const { return plot_; }
  [[nodiscard]] const LawSet& laws() const { return laws_; }

 protected:
  void show_problem() override { refresh(); }
  [[nodiscard]] Collection collection() const override;
  bool show_mark(const ShownPoint& point, bool moves) override;
  [[nodiscard]] int max_table_height() const override { return height() * 2 / 5; }

 private:
  /// Updates from the visible points and the choices; ends in show_laws().
  void refresh();
  void show_laws();
  void show_table();

  Choice<LawLevel> level_;
  std::vector<LawFamily> families_;
  LawSet laws_;
  LawPlot* plot_ = nullptr;
  ResultModel* model_ = nullptr;
};

}  // namespace attnscope::ui
