// SPDX-License-Identifier: GPL-3.0-or-later
// A table to be read: rows are selected whole, without grid or row numbers, and are as high as the font asks for.
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
  /// `name` is what a screen reader says.
  PlainTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Selects this row alone. QTableView::selectRow() takes the keys that are held down for the user's wish to add to
  /// what is selected.
  void choose_row(int row);
  /// Out of sight, but copied with the rest.
  void fold_column(int column, bool folded);
  /// What stands in its visible and folded columns, of the wanted rows or of all; TableModel::copy_role.
  [[nodiscard]] ShownValues values(const std::function<bool(int row)>& wanted = {}) const;
  [[nodiscard]] ShownValues selected_values() const;

 protected:
  void changeEvent(QEvent* event) override;
  /// Ctrl+C copies the selected rows.
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::set<int> folded_;
};

/// `shown` has a plot and, below it, its table: that is scrolled to where the page is too low for both, so that the
/// plot's axes have 300 pixels there too. `shown` becomes the area's.
[[nodiscard]] QScrollArea* scrolled(QWidget* shown, QWidget* plot, QWidget* parent);

}  // namespace attnscope::ui
