// SPDX-License-Identifier: GPL-3.0-or-later
// Read-only table: selects whole rows, no grid or row numbers, row height from the font.
#pragma once

#include <QScrollArea>
#include <QTableView>
#include <functional>
#include <set>

#include "ui/text/values.h"

namespace attnscope::ui {

class PlainTable : public QTableView {
  Q_OBJECT
 public:
  PlainTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Selects only this row. QTableView::selectRow() would extend the selection if a modifier key is pressed.
  void select_only_row(int row);
  /// Hides a column, but still copies it.
  void fold_column(int column, bool folded);
  /// Returns the values (ResultModel::copy_role) of visible and folded columns, of all rows or those that `wanted`
  /// accepts.
  [[nodiscard]] ShownValues values(const std::function<bool(int row)>& wanted = {}) const;
  [[nodiscard]] ShownValues selected_values() const;

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::set<int> folded_;
};

/// Returns a scroll area with `shown`, which contains a plot and its table. In a low page it scrolls, so that the
/// plot's axes keep 300 pixels. Takes ownership of `shown`.
[[nodiscard]] QScrollArea* make_scroll_area(QWidget* shown, QWidget* plot, QWidget* parent);

}  // namespace attnscope::ui
