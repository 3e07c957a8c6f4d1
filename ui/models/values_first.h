// SPDX-License-Identifier: GPL-3.0-or-later
// Rows sorted by TableModel::sort_role, what has no value at the end in either direction.
#pragma once

#include <QSortFilterProxyModel>

namespace attnscope::ui {

class ValuesFirst : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit ValuesFirst(QObject* parent = nullptr);

 protected:
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

}  // namespace attnscope::ui
