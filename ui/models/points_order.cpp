// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_order.h"

#include <numeric>
#include <utility>

namespace attnscope::ui {

PointsOrder::PointsOrder(PointsTableModel& model, QObject* parent) : QAbstractProxyModel(parent), model_(model) {
  setSourceModel(&model_);
  follow_model();
}

void PointsOrder::follow_model() {
  connect(&model_, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
    aside_.drop();
    beginResetModel();
  });
  connect(&model_, &QAbstractItemModel::modelReset, this, &PointsOrder::take_reset);
  // Rows come at the end alone; those that are sorted go to their places from there.
  connect(&model_, &QAbstractItemModel::rowsAboutToBeInserted, this,
          [this](const QModelIndex& /*parent*/, int first, int last) { beginInsertRows({}, first, last); });
  connect(&model_, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex& /*parent*/, int first, int last) {
    for (int row = first; row <= last && !to_model_.empty(); ++row) {
      to_model_.push_back(static_cast<Row>(row));
      from_model_.push_back(static_cast<Row>(row));
    }
    endInsertRows();
    if (own_column_ >= 0) order_anew();
  });
  connect(&model_, &QAbstractItemModel::dataChanged, this, [this](const QModelIndex& first, const QModelIndex& last) {
    if (to_model_.empty()) {
      emit dataChanged(mapFromSource(first), mapFromSource(last));
      return;
    }
    for (int row = first.row(); row <= last.row(); ++row) {
      emit dataChanged(mapFromSource(first.siblingAtRow(row)), mapFromSource(last.siblingAtRow(row)));
    }
  });
  connect(&model_, &QAbstractItemModel::headerDataChanged, this, &QAbstractItemModel::headerDataChanged);
}

/// Columns may be others after a reset: what the order is about is known by key.
void PointsOrder::take_reset() {
  const int column = model_.column_named(sorted_by_);
  own_column_ = model_.lists() ? -1 : column;
  Prepared given = std::exchange(prepared_, {});
  const bool prepared = own_column_ >= 0 && given.points == model_.points() && given.by == sorted_by_ &&
                        given.order == sorted_in_ && given.rows.size() == model_.points()->size();
  set_places(prepared ? std::move(given.rows) : std::vector<Row>());
  endResetModel();
  if (sorted_by_.isEmpty()) return;
  if (own_column_ >= 0 && !prepared) order_anew();
  // Of what is listed without being in memory the rows cannot be compared by their values.
  const int shown = model_.lists() && column >= 0 && !model_.is_setting(column) ? -1 : column;
  if (shown != shown_column_) emit sort_column_moved(shown);
  shown_column_ = shown;
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
    own_column_ = column;
  }
  sorted_by_ = key;
  sorted_in_ = order;
  shown_column_ = column;
  if (!model_.lists()) order_anew();
}

PointsTableModel::Ordering PointsOrder::ordering_of(const std::shared_ptr<const PointSet>& points) const {
  return model_.ordering(points, model_.column_named(sorted_by_), sorted_in_);
}

void PointsOrder::order_anew() {
  if (own_column_ < 0) {
    aside_.drop();
    return show({});
  }
  const PointsTableModel::Ordering ordering = model_.ordering(model_.points(), own_column_, sorted_in_);
  if (model_.points()->size() <= most_points_at_once) {
    aside_.drop();
    return show(ordering());
  }
  aside_.ask([ordering](const Aside::Outdated& /*outdated*/) { return ordering(); },
             [this](std::vector<Row> rows) { show(std::move(rows)); });
}

void PointsOrder::show(std::vector<Row> rows) {
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

void PointsOrder::set_places(std::vector<Row> rows) {
  to_model_ = std::move(rows);
  from_model_.assign(to_model_.size(), 0);
  for (std::size_t place = 0; place < to_model_.size(); ++place)
    from_model_[to_model_[place]] = static_cast<Row>(place);
}

QModelIndex PointsOrder::index(int row, int column, const QModelIndex& parent) const {
  return hasIndex(row, column, parent) ? createIndex(row, column) : QModelIndex();
}

int PointsOrder::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : model_.rowCount();
}

int PointsOrder::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : model_.columnCount();
}

QModelIndex PointsOrder::mapToSource(const QModelIndex& proxy) const {
  if (!proxy.isValid()) return {};
  const auto row = static_cast<std::size_t>(proxy.row());
  return model_.index(to_model_.empty() ? proxy.row() : static_cast<int>(to_model_[row]), proxy.column());
}

QModelIndex PointsOrder::mapFromSource(const QModelIndex& source) const {
  if (!source.isValid()) return {};
  const auto row = static_cast<std::size_t>(source.row());
  return createIndex(from_model_.empty() ? source.row() : static_cast<int>(from_model_[row]), source.column());
}

}  // namespace attnscope::ui
