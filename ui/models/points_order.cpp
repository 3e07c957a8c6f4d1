// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_order.h"

namespace attnscope::ui {

PointsOrder::PointsOrder(PointsTableModel& model, QObject* parent) : QSortFilterProxyModel(parent), model_(model) {
  // Columns may be others after a reset: what the order is about is known by key.
  connect(&model_, &QAbstractItemModel::modelAboutToBeReset, this,
          [this] { sorted_by_ = sortColumn() < 0 ? QString() : model_.key_of(sortColumn()); });
  setSourceModel(&model_);
  setSortRole(TableModel::sort_role);
  connect(&model_, &QAbstractItemModel::modelReset, this, [this] {
    if (sorted_by_.isEmpty()) return;
    const int column = model_.column_named(sorted_by_);
    if (column == sortColumn()) return;
    sort(column, sortOrder());
    emit sort_column_moved(column);
  });
}

bool PointsOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const bool left_has = left.data(sortRole()).isValid();
  const bool right_has = right.data(sortRole()).isValid();
  if (left_has && right_has) return QSortFilterProxyModel::lessThan(left, right);
  // Descending order asks with the sides exchanged.
  return sortOrder() == Qt::AscendingOrder ? left_has && !right_has : right_has && !left_has;
}

}  // namespace attnscope::ui
