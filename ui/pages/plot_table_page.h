// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of pages with a plot and a table below it.
#pragma once

#include "ui/pages/problem_page.h"
#include "ui/widgets/plain_table.h"

class QAbstractItemModel;

namespace attnscope::ui {

class PlotTablePage : public ProblemPage {
  Q_OBJECT
 public:
  [[nodiscard]] QWidget* view() override { return plot_; }
  [[nodiscard]] PlainTable* table() const { return table_; }

 protected:
  /// The table shows at least `min_rows` rows, and scrolls if it has more than fit.
  PlotTablePage(Workspace& workspace, const FilterFactory& filter_factory, int min_rows, QWidget* parent)
      : ProblemPage(workspace, filter_factory, parent), min_rows_(min_rows) {}

  /// `below`: widget below both; does not scroll. Null: none.
  void set_plot_and_table(QWidget* plot, QAbstractItemModel& model, const QString& name, int spacing,
                          QWidget* below = nullptr);
  /// Maximum height of the table in pixels.
  [[nodiscard]] virtual int max_table_height() const = 0;
  void fit_table();
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  int min_rows_;
  QWidget* plot_ = nullptr;
  PlainTable* table_ = nullptr;
};

}  // namespace attnscope::ui
