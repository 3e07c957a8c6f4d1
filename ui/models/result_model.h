// SPDX-License-Identifier: GPL-3.0-or-later
// Item model of an analysis table (profiler/points/table.h).
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QPixmap>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/points/table.h"
#include "ui/text/values.h"

namespace attnscope::ui {

// Base class of flat table models. Subclasses provide columns and cells of lines; rows show the lines in a given order.

using analysis::Row;

class TableModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  static constexpr int sort_role = Qt::UserRole + 1;
  static constexpr int copy_role = ui::copy_role;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : rows(); }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final { return parent.isValid() ? 0 : columns(); }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const final {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    return cell(line_of(index.row()), index.column(), role);
  }
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const final {
    if (orientation != Qt::Horizontal || section < 0 || section >= columns()) return {};
    return header(section, role);
  }

  [[nodiscard]] int line_of(int row) const {
    return order_.empty() ? row : static_cast<int>(order_[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] int row_of_line(int line) const {
    return order_.empty() ? line : static_cast<int>(std::ranges::find(order_, static_cast<Row>(line)) - order_.begin());
  }
  /// Sets the order of lines; empty: data order. Keeps the selection.
  void set_order(std::vector<Row> lines);

 protected:
  [[nodiscard]] virtual int rows() const = 0;
  [[nodiscard]] virtual int columns() const = 0;
  [[nodiscard]] virtual QVariant cell(int line, int column, int role) const = 0;
  [[nodiscard]] virtual QVariant header(int column, int role) const = 0;

  /// Call between beginResetModel() and endResetModel().
  void reset_order(std::vector<Row> lines) { order_ = std::move(lines); }
  /// Appends new lines up to `end`. Call between beginInsertRows() and endInsertRows().
  void extend_order(int end) {
    while (!order_.empty() && static_cast<int>(order_.size()) < end) order_.push_back(static_cast<Row>(order_.size()));
  }

  /// Replaces the lines and emits dataChanged() for changed cells only; resets the model if the number of lines
  /// changes. `same(before, now, column)`: compares a cell.
  template <class Line, class Same>
  void replace_lines(std::vector<Line>& lines, std::vector<Line> now, const Same& same) {
    if (lines.size() != now.size()) {
      beginResetModel();
      lines = std::move(now);
      endResetModel();
      return;
    }
    lines.swap(now);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (int column = 0; column < columns(); ++column) {
        if (same(now[i], lines[i], column)) continue;
        const QModelIndex cell = index(static_cast<int>(i), column);
        emit dataChanged(cell, cell);
      }
    }
  }

 private:
  std::vector<Row> order_;  ///< line by row; empty: data order
};

/// Returns -1 if the table has no such column.
[[nodiscard]] int find_column_index(const analysis::Table& table, const QString& key);

/// Returns blue for better and orange for worse; invalid for other tones.
[[nodiscard]] QColor tone_color(analysis::Tone tone, bool dark);

struct TextSample {
  QString text;
  bool bold = false;
  bool operator==(const TextSample&) const = default;
};
[[nodiscard]] std::vector<std::vector<TextSample>> longest_texts(const analysis::Table& table, std::size_t rows);

class ResultModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;

  using TablePtr = std::shared_ptr<const analysis::Table>;
  /// Marker in the first column; null: none.
  using RowMarker = std::function<QPixmap(int row)>;
  /// `order`: lines in display order; empty: table order.
  void set_table(TablePtr table, RowMarker marker = nullptr, std::vector<Row> order = {});
  /// Like set_table(), for a table that extends the current one; keeps the selection.
  void extend_table(TablePtr table, std::vector<Row> order);
  /// Like set_table(), but repaints only the changed cells if the rows and columns match.
  void update_table(TablePtr table);
  [[nodiscard]] const TablePtr& table() const { return table_; }
  [[nodiscard]] QString key_of(int column) const;
  [[nodiscard]] int find_column_index(const QString& key) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(table_->rows); }
  [[nodiscard]] int columns() const override { return static_cast<int>(table_->columns.size()); }
  [[nodiscard]] QVariant cell(int line, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  TablePtr table_ = std::make_shared<const analysis::Table>();
  RowMarker marker_;
};

}  // namespace attnscope::ui
