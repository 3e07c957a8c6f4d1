// SPDX-License-Identifier: GPL-3.0-or-later
// A result's table (profiler/analysis/tables/) as a model.
#pragma once

#include <QColor>
#include <functional>
#include <memory>
#include <vector>

#include "profiler/points/table.h"
#include "ui/models/table_model.h"

namespace attnscope::ui {

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
  /// The same as set_table(), but where rows and columns are as many and called the same only the cells that are others
  /// by it are painted anew.
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
