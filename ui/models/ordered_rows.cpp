// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/ordered_rows.h"

#include <cstddef>
#include <utility>

namespace attnscope::ui {

OrderedRows::OrderedRows(QAbstractItemModel& model, QObject* parent)
    : QAbstractProxyModel(parent),
      model_(model),
      order_([](const Ordering& ordering, const Outdated& /*outdated*/) { return ordering(); },
             [this](std::vector<Row> rows) { show(std::move(rows)); }) {
  setSourceModel(&model_);
  connect(&model_, &QAbstractItemModel::headerDataChanged, this, &QAbstractItemModel::headerDataChanged);
}

void OrderedRows::set_places(std::vector<Row> rows) {
  to_model_ = std::move(rows);
  from_model_.assign(to_model_.size(), 0);
  for (std::size_t place = 0; place < to_model_.size(); ++place)
    from_model_[to_model_[place]] = static_cast<Row>(place);
}

void OrderedRows::show(std::vector<Row> rows) {
  order_.drop();
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  QModelIndexList of_model;
  of_model.reserve(before.size());
  for (const QModelIndex& index : before) of_model << mapToSource(index);
  set_places(std::move(rows));
  QModelIndexList now;
  now.reserve(before.size());
  for (const QModelIndex& index : of_model) now << mapFromSource(index);
  changePersistentIndexList(before, now);
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void OrderedRows::add_rows(int first, int last) {
  for (int row = first; row <= last && !to_model_.empty(); ++row) {
    to_model_.push_back(static_cast<Row>(row));
    from_model_.push_back(static_cast<Row>(row));
  }
}

void OrderedRows::say_changed(const QModelIndex& first, const QModelIndex& last) {
  if (to_model_.empty()) {
    emit dataChanged(mapFromSource(first), mapFromSource(last));
    return;
  }
  // Many rows stand everywhere.
  if (2 * (last.row() - first.row() + 1) > rowCount()) {
    emit dataChanged(index(0, first.column()), index(rowCount() - 1, last.column()));
    return;
  }
  for (int row = first.row(); row <= last.row(); ++row) {
    emit dataChanged(mapFromSource(first.siblingAtRow(row)), mapFromSource(last.siblingAtRow(row)));
  }
}

QModelIndex OrderedRows::index(int row, int column, const QModelIndex& parent) const {
  return hasIndex(row, column, parent) ? createIndex(row, column) : QModelIndex();
}

int OrderedRows::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : model_.rowCount();
}

int OrderedRows::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : model_.columnCount();
}

QVariant OrderedRows::headerData(int section, Qt::Orientation orientation, int role) const {
  return model_.headerData(section, orientation, role);
}

QModelIndex OrderedRows::mapToSource(const QModelIndex& proxy) const {
  if (!proxy.isValid()) return {};
  const auto row = static_cast<std::size_t>(proxy.row());
  return model_.index(to_model_.empty() ? proxy.row() : static_cast<int>(to_model_[row]), proxy.column());
}

QModelIndex OrderedRows::mapFromSource(const QModelIndex& source) const {
  if (!source.isValid()) return {};
  const auto row = static_cast<std::size_t>(source.row());
  return createIndex(from_model_.empty() ? source.row() : static_cast<int>(from_model_[row]), source.column());
}

}  // namespace attnscope::ui
