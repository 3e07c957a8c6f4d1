// SPDX-License-Identifier: GPL-3.0-or-later
// Compares points with Theorem 2 of FlashAttention: bytes over N, d and M in one log-log panel each, and a
// table of exponents. Lines join points that differ in the panel's variable only; one such slice is emphasized and has
// the fitted line.
#pragma once

#include <QColor>
#include <QString>
#include <memory>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "ui/models/result_model.h"
#include "ui/pages/problem_page.h"
#include "ui/plots/plot_parts.h"
#include "ui/plots/point_plot.h"
#include "ui/runs/point_set.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

// Families of points for the law, with their names and colors.

using analysis::LawFamily;
using analysis::LawLevel;

struct LawSet {
  std::shared_ptr<const PointSet> points;
  std::vector<LawFamily> families;
  QString problem;  ///< Settings common to all families.
};

/// "FA1"; with device, kind of run and run if the set has several families of one algorithm.
[[nodiscard]] QString family_title(const LawSet& set, const LawFamily& family);
[[nodiscard]] QPixmap family_marker(const LawFamily& family);

class LawPlot : public PointPlot {
  Q_OBJECT
 public:
  explicit LawPlot(QWidget* parent = nullptr);

  void set_laws(LawSet set, LawLevel level);
  [[nodiscard]] const std::vector<QCPAxisRect*>& panels() const { return panels_; }

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  QCPAxisRect* add_panel(const QString& heading, const QString& x_label);
  /// Returns the exponents of the first measured family with a fit and those of its law; empty if there is none.
  [[nodiscard]] QString headline_of_fit() const;
  void draw_growth();
  void draw_growth_of(QCPAxisRect* panel, LawVariable variable, std::size_t family);
  void draw_marks(QCPAxisRect* panel, std::size_t family, const std::vector<std::size_t>& points, bool strong);
  [[nodiscard]] Extent extent_of(const std::function<double(const analysis::LawPoint&)>& value) const;
  [[nodiscard]] QColor color_of(std::size_t family) const;
  /// Returns whether an earlier family has the same algorithm and fill.
  [[nodiscard]] bool is_further_family(std::size_t family) const;

  LawSet set_;
  LawLevel level_ = LawLevel::sm_l2;
  std::vector<std::size_t> drawn_;
  bool rim_ = false;  ///< Both simulated and measured families are drawn.
  QCPLayoutGrid* grid_;
  std::vector<QCPAxisRect*> panels_;
};

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
