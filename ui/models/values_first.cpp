// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/values_first.h"

#include "ui/models/table_model.h"

namespace attnscope::ui {

ValuesFirst::ValuesFirst(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(TableModel::sort_role);
}

bool ValuesFirst::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const bool left_has = left.data(sortRole()).isValid();
  const bool right_has = right.data(sortRole()).isValid();
  if (left_has && right_has) return QSortFilterProxyModel::lessThan(left, right);
  // Descending order asks with the sides exchanged.
  return sortOrder() == Qt::AscendingOrder ? left_has && !right_has : right_has && !left_has;
}

}  // namespace attnscope::ui
