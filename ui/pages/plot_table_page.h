// SPDX-License-Identifier: GPL-3.0-or-later
// A plot with its table below.
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
  /// Of more rows than there is room for, the table scrolls; it has at least `fewest_rows`.
  PlotTablePage(Workspace& workspace, const NewFilter& new_filter, int fewest_rows, QWidget* parent)
      : ProblemPage(workspace, new_filter, parent), fewest_rows_(fewest_rows) {}

  /// `below`: what stands below both, in sight where the table is scrolled to; null: nothing.
  void set_plot_and_table(QWidget* plot, QAbstractItemModel& model, const QString& name, int spacing,
                          QWidget* below = nullptr);
  /// In pixels of the page.
  [[nodiscard]] virtual int room_for_table() const = 0;
  void fit_table();
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  int fewest_rows_;
  QWidget* plot_ = nullptr;
  PlainTable* table_ = nullptr;
};

}  // namespace attnscope::ui
