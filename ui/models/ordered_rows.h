// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a flat model in an order of their own. That of many is found aside: until it is, they stand as they
// stood.
#pragma once

#include <QAbstractProxyModel>
#include <functional>
#include <vector>

#include "profiler/analysis/coded.h"
#include "ui/process/live.h"

namespace attnscope::ui {

using analysis::Row;

class OrderedRows : public QAbstractProxyModel {
  Q_OBJECT
 public:
  explicit OrderedRows(QAbstractItemModel& model, QObject* parent = nullptr);

  /// The order that is being found.
  [[nodiscard]] LiveWork& work() { return order_; }
  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& /*child*/) const override { return {}; }
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  /// Also of no rows, where the base has none to ask for their columns.
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  [[nodiscard]] QModelIndex mapToSource(const QModelIndex& proxy) const override;
  [[nodiscard]] QModelIndex mapFromSource(const QModelIndex& source) const override;

 protected:
  using Ordering = std::function<std::vector<Row>()>;
  /// Shows the rows in the order that this finds, in any thread.
  void order_by(Ordering ordering) { order_.ask(std::move(ordering), static_cast<std::size_t>(rowCount())); }
  /// Rows of the model in their order; none: as they stand there. While this is reset.
  void set_places(std::vector<Row> rows);
  /// The same of the rows that are there, whatever order is being found; what is selected stays so.
  void show(std::vector<Row> rows);
  /// Rows that come at the model's end stand at the end here.
  void add_rows(int first, int last);
  /// Says of these rows of the model that they are others.
  void say_changed(const QModelIndex& first, const QModelIndex& last);

 private:
  QAbstractItemModel& model_;
  std::vector<Row> to_model_;    ///< by row; empty: as they stand there
  std::vector<Row> from_model_;  ///< the other way round
  Live<Ordering, std::vector<Row>> order_;
};

}  // namespace attnscope::ui
