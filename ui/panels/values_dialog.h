// SPDX-License-Identifier: GPL-3.0-or-later
// Values of a plot as a table, for the keyboard and screen readers.
#pragma once

#include <QDialog>

#include "ui/text/values.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class ValuesDialog : public QDialog {
  Q_OBJECT
 public:
  ValuesDialog(const QString& title, ShownValues values, QWidget* parent);
  [[nodiscard]] PlainTable& table() const { return *table_; }

 private:
  PlainTable* table_;
};

}  // namespace attnscope::ui
