// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison_order.h"

#include <utility>

namespace attnscope::ui {
namespace {

std::vector<Row> in_order(const ShownComparison& comparison, int column, Qt::SortOrder order) {
  return comparison.table().ordered(static_cast<std::size_t>(column), order == Qt::DescendingOrder);
}

}  // namespace

ComparisonOrder::ComparisonOrder(ComparisonModel& model, QObject* parent) : OrderedRows(model, parent), model_(model) {}

void ComparisonOrder::sort(int column, Qt::SortOrder order) {
  if (column < 0) return show({});
  order_by([table = model_.comparison(), column, order] { return in_order(*table, column, order); });
}

void ComparisonOrder::set_table(std::shared_ptr<const ShownComparison> table, std::vector<Row> rows) {
  work().drop();
  beginResetModel();
  model_.set_comparison(std::move(table));
  set_places(std::move(rows));
  endResetModel();
}

}  // namespace attnscope::ui
