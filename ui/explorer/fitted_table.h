// SPDX-License-Identifier: GPL-3.0-or-later
// A table as high as its rows, whose columns are as wide as their texts: the first takes the room that is left.
#pragma once

#include <QTableView>

namespace attnscope::ui {

class FittedTable : public QTableView {
  Q_OBJECT
 public:
  /// `name` is what a screen reader says.
  FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Again, after other texts have come.
  void fit();

 protected:
  void resizeEvent(QResizeEvent* event) override;
};

}  // namespace attnscope::ui
