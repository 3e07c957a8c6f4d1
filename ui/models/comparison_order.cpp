// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/comparison_order.h"

#include <utility>

namespace attnscope::ui {

ComparisonOrder::ComparisonOrder(ComparisonModel& model, QObject* parent) : OrderedRows(model, parent), model_(model) {}

void ComparisonOrder::sort(int column, Qt::SortOrder order) {
  background_.drop();
  if (column < 0) return show({});
  const std::shared_ptr<const ComparisonTable> table = model_.table();
  if (table->lines().size() <= most_points_at_once) return show(table->ordered(column, order));
  background_.ask(
      [table, column, order](const BackgroundWork::Outdated& /*outdated*/) { return table->ordered(column, order); },
      [this](std::vector<Row> rows) { show(std::move(rows)); });
}

void ComparisonOrder::set_table(std::shared_ptr<const ComparisonTable> table, std::vector<Row> rows) {
  background_.drop();
  beginResetModel();
  model_.set_table(std::move(table));
  set_places(std::move(rows));
  endResetModel();
}

}  // namespace attnscope::ui
