// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_order.h"

#include <utility>

namespace attnscope::ui {

PointsOrder::PointsOrder(PointsTableModel& model, QObject* parent) : OrderedRows(model, parent), model_(model) {
  follow_model();
}

void PointsOrder::follow_model() {
  connect(&model_, &QAbstractItemModel::modelAboutToBeReset, this, [this] {
    work().drop();
    beginResetModel();
  });
  connect(&model_, &QAbstractItemModel::modelReset, this, &PointsOrder::take_reset);
  // Rows come at the end alone; those that are sorted go to their places from there.
  connect(&model_, &QAbstractItemModel::rowsAboutToBeInserted, this,
          [this](const QModelIndex& /*parent*/, int first, int last) { beginInsertRows({}, first, last); });
  connect(&model_, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex& /*parent*/, int first, int last) {
    add_rows(first, last);
    endInsertRows();
    if (own_column_ >= 0) order_anew();
  });
  connect(&model_, &QAbstractItemModel::dataChanged, this, [this](const QModelIndex& first, const QModelIndex& last) {
    say_changed(first, last);
    // Of points whose values are others; of what is listed, values come row by row, and it is not sorted by them.
    if (own_column_ >= 0) order_anew();
  });
}

void PointsOrder::set_points(Prepared prepared) {
  const std::shared_ptr<const PointSet> points = prepared.points;
  prepared_ = std::move(prepared);
  model_.set_points(points);
  prepared_ = {};
}

std::optional<std::vector<Row>> PointsOrder::prepared() const {
  const bool fits = own_column_ >= 0 && prepared_.points == model_.points() && prepared_.by == sorted_by_ &&
                    prepared_.order == sorted_in_ && prepared_.rows.size() == model_.points()->size();
  return fits ? std::optional(prepared_.rows) : std::nullopt;
}

/// Columns may be others after a reset: what the order is about is known by key.
void PointsOrder::take_reset() {
  const int column = model_.column_named(sorted_by_);
  own_column_ = model_.lists() ? -1 : column;
  std::optional<std::vector<Row>> rows = prepared();
  const bool ordered = rows.has_value();
  set_places(ordered ? std::move(*rows) : std::vector<Row>());
  endResetModel();
  if (sorted_by_.isEmpty()) return;
  if (own_column_ >= 0 && !ordered) order_anew();
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
  if (own_column_ < 0) return show({});
  if (std::optional<std::vector<Row>> rows = prepared()) return show(std::move(*rows));
  order_by(model_.ordering(model_.points(), own_column_, sorted_in_));
}

}  // namespace attnscope::ui
