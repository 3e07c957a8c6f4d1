// SPDX-License-Identifier: GPL-3.0-or-later
// Compares points with Theorem 2 of FlashAttention: the controls around a LawPlot, and its table of exponents.
#pragma once

#include "ui/models/result_model.h"
#include "ui/pages/law/law_plot.h"
#include "ui/pages/problem_page.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class LawPage : public ProblemPage {
  Q_OBJECT
 public:
  explicit LawPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;

  [[nodiscard]] LawPlot* plot() const { return plot_; }
  [[nodiscard]] PlainTable* table() const { return table_; }
  [[nodiscard]] const LawSet& laws() const { return laws_; }

 protected:
  void show_problem() override { refresh(); }
  [[nodiscard]] Collection collection() const override;
  bool show_mark(const ShownPoint& point, bool /*moves*/) override { return plot_->select(point) && has_plot(); }
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// Updates from the visible points and the choices; ends in show_laws().
  void refresh();
  void show_laws();
  void show_table();
  /// Gives the table the height of its rows, up to 2/5 of the page.
  void fit_table();

  Choice<LawLevel> level_;
  std::vector<LawFamily> families_;
  LawSet laws_;
  LawPlot* plot_ = nullptr;
  ResultModel* model_ = nullptr;
  PlainTable* table_ = nullptr;
};

}  // namespace attnscope::ui
