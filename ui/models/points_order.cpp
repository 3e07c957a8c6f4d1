// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_order.h"

namespace attnscope::ui {

PointsOrder::PointsOrder(PointsTableModel& model, QObject* parent) : ValuesFirst(parent), model_(model) {
  // Comparing rows would read all of them.
  connect(&model_, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
    if (model_.will_list() && sortColumn() >= 0) ValuesFirst::sort(-1, sorted_in_);
  });
  setSourceModel(&model_);
  // Columns may be others after a reset: what the order is about is known by key.
  connect(&model_, &QAbstractItemModel::modelReset, this, [this] {
    if (sorted_by_.isEmpty()) return;
    const int column = model_.column_named(sorted_by_);
    const int own = model_.lists() ? -1 : column;
    if (own != sortColumn() || sorted_in_ != sortOrder()) ValuesFirst::sort(own, sorted_in_);
    const int shown = model_.lists() && column >= 0 && !model_.is_setting(column) ? -1 : column;
    if (shown != shown_column_) emit sort_column_moved(shown);
    shown_column_ = shown;
  });
}

void PointsOrder::sort(int column, Qt::SortOrder order) {
  const QString key = column < 0 ? QString() : model_.key_of(column);
  if (model_.lists()) {
    if (!model_.sort_listing(key, order)) {
      emit sort_column_moved(shown_column_);
      return;
    }
  } else {
    // What is listed later stands in this order, where it can.
    if (!model_.sort_listing(key, order)) model_.sort_listing({}, order);
    ValuesFirst::sort(column, order);
  }
  sorted_by_ = key;
  sorted_in_ = order;
  shown_column_ = column;
}

}  // namespace attnscope::ui
