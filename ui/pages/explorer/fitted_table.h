// SPDX-License-Identifier: GPL-3.0-or-later
// A table as high as its rows, whose columns are as wide as their texts: the first takes the room that is left.
#pragma once

#include <QFontMetrics>
#include <QHash>

#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class FittedTable : public PlainTable {
  Q_OBJECT
 public:
  /// `name` is what a screen reader says.
  FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Again, after other texts have come.
  void fit();
  /// Of more it shows that many, and scrolls.
  void set_most_rows(int rows);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] int width_of(const QFontMetrics& metrics, const QString& text);

  int most_rows_ = 1 << 20;
  QHash<QString, int> widths_;  ///< of texts that were there, in the font that there is
};

}  // namespace attnscope::ui
