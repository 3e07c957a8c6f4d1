// SPDX-License-Identifier: GPL-3.0-or-later
// The plumbing of a flat table, written once: a subclass names its columns and fills its cells.
#pragma once

#include <QAbstractTableModel>

namespace attnscope::ui {

class TableModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  /// What sorting compares: numbers as numbers.
  static constexpr int sort_role = Qt::UserRole + 1;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : rows(); }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : columns(); }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const final {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    return cell(index.row(), index.column(), role);
  }
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const final {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns()) return {};
    return header(section, role);
  }

 protected:
  [[nodiscard]] virtual int rows() const = 0;
  [[nodiscard]] virtual int columns() const = 0;
  [[nodiscard]] virtual QVariant cell(int row, int column, int role) const = 0;
  [[nodiscard]] virtual QVariant header(int column, int role) const = 0;
};

}  // namespace attnscope::ui
