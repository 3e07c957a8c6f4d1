// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/table_model.h"

#include <numeric>

namespace attnscope::ui {

void TableModel::set_order(std::vector<Row> lines) {
  if (lines == order_) return;
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  std::vector<int> row_of(static_cast<std::size_t>(rows()));
  std::iota(row_of.begin(), row_of.end(), 0);
  for (std::size_t row = 0; row < lines.size(); ++row) row_of[lines[row]] = static_cast<int>(row);
  const QModelIndexList before = persistentIndexList();
  QModelIndexList now;
  now.reserve(before.size());
  for (const QModelIndex& each : before) {
    now << index(row_of[static_cast<std::size_t>(line_of(each.row()))], each.column());
  }
  order_ = std::move(lines);
  changePersistentIndexList(before, now);
  emit layoutChanged({}, VerticalSortHint);
}

}  // namespace attnscope::ui
