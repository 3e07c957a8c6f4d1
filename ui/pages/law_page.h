// SPDX-License-Identifier: GPL-3.0-or-later
// Theorem 2 of FlashAttention held to points: the controls around a LawPlot, and the table of exponents below it.
#pragma once

#include <QStackedLayout>
#include <QTableView>
#include <memory>
#include <optional>

#include "ui/models/law_model.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/error_note.h"
#include "ui/pages/problem_page.h"
#include "ui/plots/law_plot.h"

namespace attnscope::ui {

class LawPage : public ProblemPage {
  Q_OBJECT
 public:
  explicit LawPage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] bool has_plot() const override;
  /// "law-collapse-dram-full-1x132"
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] QString save_plot(const QString& path, const QSize& size) override;

  void set_level(LawLevel level) { level_.choose(level); }
  void set_view(LawView view) { view_.choose(view); }
  [[nodiscard]] LawPlot* plot() const { return plot_; }
  [[nodiscard]] QTableView* table() const { return table_; }
  /// What is shown of the problem chosen.
  [[nodiscard]] const LawSet& laws() const { return laws_; }
  /// The words in place of the plot; empty while there is one.
  [[nodiscard]] QString words() const;

 protected:
  void show_problem() override { refresh(); }
  bool show_mark(const ShownPoint& point, bool moves) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void add_content();
  /// Of what is visible and chosen by now; ends in show_laws().
  void refresh();
  void show_laws();
  void fit_table();

  Choice<LawLevel> level_;
  Choice<LawView> view_;
  std::vector<LawFamily> families_;  ///< of all that is visible
  LawSet laws_;
  LawPlot* plot_ = nullptr;
  LawModel* model_ = nullptr;
  QTableView* table_ = nullptr;
  QWidget* shown_ = nullptr;  ///< plot and table
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  QStackedLayout* stack_ = nullptr;
};

}  // namespace attnscope::ui
