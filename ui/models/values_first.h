// SPDX-License-Identifier: GPL-3.0-or-later
// Rows sorted by TableModel::sort_role, what has no value at the end in either direction.
#pragma once

#include <QSortFilterProxyModel>
#include <QVariant>
#include <vector>

namespace attnscope::ui {

class ValuesFirst : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit ValuesFirst(QObject* parent = nullptr);

  void setSourceModel(QAbstractItemModel* model) override;
  void sort(int column, Qt::SortOrder order) override;

 protected:
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  /// What a row is sorted by, asked for once: sorting 100,000 rows compares each some twenty times.
  struct Key {
    bool there = false;
    bool number = false;
    double value = 0;
  };
  void forget_keys() { keys_.clear(); }
  [[nodiscard]] const Key& key_of(const QModelIndex& index) const;

  mutable std::vector<Key> keys_;  ///< by row of the source, of key_column_; empty: to be made
  mutable int key_column_ = -1;
};

}  // namespace attnscope::ui
