// SPDX-License-Identifier: GPL-3.0-or-later
// Item model of an analysis table (profiler/points/table.h).
#pragma once

#include <QAbstractTableModel>
#include <QColor>
#include <QPixmap>
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "profiler/points/table.h"
#include "ui/text/values.h"

namespace attnscope::ui {

using analysis::Row;

/// Values of all rows, as ResultModel copies them.
[[nodiscard]] ShownValues values_of(const analysis::Table& table);
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

/// Rows show the lines of a table in a given order.
class ResultModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;

  static constexpr int sort_role = Qt::UserRole + 1;
  static constexpr int copy_role = ui::copy_role;

  using TablePtr = std::shared_ptr<const analysis::Table>;
  /// Marker in the first column; null: none.
  using RowMarker = std::function<QPixmap(int row)>;
  /// `order`: lines in display order; empty: table order.
  void set_table(TablePtr table, RowMarker marker = nullptr, std::vector<Row> order = {});
  /// Like set_table(), for a table that extends the current one; keeps the selection.
  void extend_table(TablePtr table, std::vector<Row> order);
  /// Like set_table(), but repaints only the changed cells if the rows and columns match.
  void update_table(TablePtr table);
  /// Sets the order of lines; empty: table order. Keeps the selection.
  void set_order(std::vector<Row> lines);
  [[nodiscard]] QString key_of(int column) const;
  [[nodiscard]] int find_column_index(const QString& key) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(table_->rows);
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(table_->columns.size());
  }
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  [[nodiscard]] int line_of(int row) const {
    return order_.empty() ? row : static_cast<int>(order_[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] int row_of_line(int line) const {
    return order_.empty() ? line : static_cast<int>(std::ranges::find(order_, static_cast<Row>(line)) - order_.begin());
  }

 protected:
  [[nodiscard]] virtual QVariant cell(int line, int column, int role) const;
  [[nodiscard]] virtual QVariant header(int column, int role) const;

 private:
  TablePtr table_ = std::make_shared<const analysis::Table>();
  RowMarker marker_;
  std::vector<Row> order_;  ///< Line by row; empty: table order.
};

}  // namespace attnscope::ui
