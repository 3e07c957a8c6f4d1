// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_order.h"

namespace attnscope::ui {

PointsOrder::PointsOrder(PointsTableModel& model, QObject* parent) : ValuesFirst(parent), model_(model) {
  // Columns may be others after a reset: what the order is about is known by key.
  connect(&model_, &QAbstractItemModel::modelAboutToBeReset, this,
          [this] { sorted_by_ = sortColumn() < 0 ? QString() : model_.key_of(sortColumn()); });
  setSourceModel(&model_);
  connect(&model_, &QAbstractItemModel::modelReset, this, [this] {
    if (sorted_by_.isEmpty()) return;
    const int column = model_.column_named(sorted_by_);
    if (column == sortColumn()) return;
    sort(column, sortOrder());
    emit sort_column_moved(column);
  });
}

}  // namespace attnscope::ui
