// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison_order.h"

#include <utility>

namespace attnscope::ui {

ComparisonOrder::ComparisonOrder(ComparisonModel& model, QObject* parent) : OrderedRows(model, parent), model_(model) {}

void ComparisonOrder::sort(int column, Qt::SortOrder order) {
  if (column < 0) return show({});
  order_by([table = model_.table(), column, order] { return table->ordered(column, order); });
}

void ComparisonOrder::set_table(std::shared_ptr<const ComparisonTable> table, std::vector<Row> rows) {
  work().drop();
  beginResetModel();
  model_.set_table(std::move(table));
  set_places(std::move(rows));
  endResetModel();
}

}  // namespace attnscope::ui
