// SPDX-License-Identifier: GPL-3.0-or-later
// A result's table (profiler/analysis/tables/) as a model.
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "profiler/points/table.h"
#include "ui/text/values.h"

namespace attnscope::ui {

// The plumbing of a flat table, written once: a subclass names its columns and fills its cells. Rows show the lines of
// its data, in an order that the owner chooses.

using analysis::Row;

class TableModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  /// What sorting compares: numbers as numbers.
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

  /// The line of the data that a row shows.
  [[nodiscard]] int line_of(int row) const {
    return order_.empty() ? row : static_cast<int>(order_[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] int row_of_line(int line) const {
    return order_.empty() ? line : static_cast<int>(std::ranges::find(order_, static_cast<Row>(line)) - order_.begin());
  }
  /// Shows all lines in this order; empty: as they stand. What is selected stays so.
  void set_order(std::vector<Row> lines);

 protected:
  [[nodiscard]] virtual int rows() const = 0;
  [[nodiscard]] virtual int columns() const = 0;
  [[nodiscard]] virtual QVariant cell(int line, int column, int role) const = 0;
  [[nodiscard]] virtual QVariant header(int column, int role) const = 0;

  /// Between beginResetModel() and endResetModel().
  void reset_order(std::vector<Row> lines) { order_ = std::move(lines); }
  /// New lines up to `end` come last. Between beginInsertRows() and endInsertRows().
  void extend_order(int end) {
    while (!order_.empty() && static_cast<int>(order_.size()) < end) order_.push_back(static_cast<Row>(order_.size()));
  }

  /// Puts these in the place of the table's lines and says which cells are others by that, so that no others are
  /// painted anew; of more or fewer lines than there were the table is another. `same(before, now, column)`: whether a
  /// cell is what it was.
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
  std::vector<Row> order_;  ///< by row
};

/// -1 where there is none.
[[nodiscard]] int column_named(const analysis::Table& table, const QString& key);

/// Blue of what is better, orange of what is worse; invalid of what is neither and not muted.
[[nodiscard]] QColor tone_color(analysis::Tone tone, bool dark);

/// What a column's width follows from: the longest texts among so many rows, each once.
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
  /// A colour at the beginning of a row; invalid: none.
  using RowColor = std::function<QColor(int row)>;
  /// `order`: of the lines; empty: as they stand.
  void set_table(TablePtr table, RowColor color = nullptr, std::vector<Row> order = {});
  /// The same, where the lines so far are the first ones of the table: what is selected of them stays so.
  void extend_table(TablePtr table, std::vector<Row> order);
  /// Like set_table(), but repaints only the changed cells if the rows and columns match.
  void update_table(TablePtr table);
  [[nodiscard]] const TablePtr& table() const { return table_; }
  [[nodiscard]] QString key_of(int column) const;
  [[nodiscard]] int column_named(const QString& key) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(table_->rows); }
  [[nodiscard]] int columns() const override { return static_cast<int>(table_->columns.size()); }
  [[nodiscard]] QVariant cell(int line, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  TablePtr table_ = std::make_shared<const analysis::Table>();
  RowColor color_;
};

}  // namespace attnscope::ui
