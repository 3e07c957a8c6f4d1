// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plain_table.h"

#include <QHeaderView>

namespace attnscope::ui {

void set_up_plain_table(QTableView& table, QAbstractItemModel* model, const QString& name) {
  constexpr int row_margin = 6;
  table.setModel(model);
  table.setAccessibleName(name);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setAlternatingRowColors(true);
  table.setShowGrid(false);
  table.setWordWrap(false);
  table.setTabKeyNavigation(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + row_margin);
  table.horizontalHeader()->setHighlightSections(false);
}

QTableView* make_plain_table(QAbstractItemModel* model, const QString& name, QWidget* parent) {
  auto* table = new QTableView(parent);
  set_up_plain_table(*table, model, name);
  return table;
}

}  // namespace attnscope::ui
