// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/values_first.h"

#include "ui/models/table_model.h"

namespace attnscope::ui {
namespace {

bool is_number(const QVariant& value) {
  switch (value.typeId()) {
    case QMetaType::Int:
    case QMetaType::UInt:
    case QMetaType::LongLong:
    case QMetaType::ULongLong:
    case QMetaType::Float:
    case QMetaType::Double:
      return true;
    default:
      return false;
  }
}

}  // namespace

ValuesFirst::ValuesFirst(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(TableModel::sort_role);
}

void ValuesFirst::setSourceModel(QAbstractItemModel* model) {
  if (sourceModel() != nullptr) disconnect(sourceModel(), nullptr, this, nullptr);
  forget_keys();
  if (model != nullptr) {
    // Before the base's own slots, which may sort at once.
    for (const auto changes : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
      connect(model, changes, this, &ValuesFirst::forget_keys);
    }
    connect(model, &QAbstractItemModel::modelReset, this, &ValuesFirst::forget_keys);
    connect(model, &QAbstractItemModel::layoutChanged, this, &ValuesFirst::forget_keys);
    connect(model, &QAbstractItemModel::dataChanged, this, &ValuesFirst::forget_keys);
  }
  QSortFilterProxyModel::setSourceModel(model);
}

void ValuesFirst::sort(int column, Qt::SortOrder order) {
  forget_keys();  // what values are may follow from more than the model says
  QSortFilterProxyModel::sort(column, order);
}

const ValuesFirst::Key& ValuesFirst::key_of(const QModelIndex& index) const {
  if (keys_.empty() || key_column_ != index.column()) {
    key_column_ = index.column();
    const int rows = sourceModel()->rowCount();
    keys_.clear();
    keys_.reserve(static_cast<std::size_t>(rows));
    for (int row = 0; row < rows; ++row) {
      const QVariant value = sourceModel()->index(row, key_column_).data(sortRole());
      const bool number = is_number(value);
      keys_.push_back({value.isValid(), number, number ? value.toDouble() : 0});
    }
  }
  return keys_[static_cast<std::size_t>(index.row())];
}

bool ValuesFirst::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const Key& a = key_of(left);
  const Key& b = key_of(right);
  if (a.number && b.number) return a.value < b.value;
  if (a.there && b.there) return QSortFilterProxyModel::lessThan(left, right);
  // Descending order asks with the sides exchanged.
  return sortOrder() == Qt::AscendingOrder ? a.there && !b.there : b.there && !a.there;
}

}  // namespace attnscope::ui
