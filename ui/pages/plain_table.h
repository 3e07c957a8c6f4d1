// SPDX-License-Identifier: GPL-3.0-or-later
// A table to be read: rows are selected whole, without grid or row numbers.
#pragma once

#include <QAbstractItemModel>
#include <QString>
#include <QTableView>

namespace attnscope::ui {

/// `name` is what a screen reader says. The rows are as high as the font asks for.
void set_up_plain_table(QTableView& table, QAbstractItemModel* model, const QString& name);
/// One that is set up so.
[[nodiscard]] QTableView* make_plain_table(QAbstractItemModel* model, const QString& name, QWidget* parent);

}  // namespace attnscope::ui
