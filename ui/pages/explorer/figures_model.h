// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of what is explored, and of what is pinned beside it: a row a figure, a column a configuration.
#pragma once

#include <QColor>
#include <QString>
#include <array>
#include <vector>

#include "profiler/predict/explored_figures.h"
#include "ui/models/table_model.h"
#include "ui/pages/explorer/choices.h"

namespace attnscope::ui {

/// The ink of what is better or worse, apart for every kind of colour vision; invalid for the others.
[[nodiscard]] QColor standing_color(analysis::Standing standing, bool dark);

class FiguresModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;

  struct Column {
    QString title;
    QString help;
    const analysis::Exploration* exploration = nullptr;  ///< for the call alone
    const PointRecord* measured = nullptr;  ///< for the call alone: stands where nothing is predicted; null: nothing is
  };
  /// The first is what the others are held against. First the choices in which they differ, then the figures.
  void set_columns(const std::vector<Column>& columns);

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return columns_.empty() ? 0 : static_cast<int>(columns_.size()) + 1; }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  struct Cell {
    QString text;
    analysis::Standing standing = analysis::Standing::same;
    bool operator==(const Cell&) const = default;
  };
  struct Line {
    QString label;
    QString help;
    std::vector<Cell> cells;
  };
  [[nodiscard]] static std::vector<Line> lines_of(const std::vector<Column>& columns);

  std::vector<Line> lines_;
  std::vector<Column> columns_;
};

/// The bytes of each matrix between SM and L2, their sum, and what DRAM sees.
class OperandsModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  enum ColumnOf { matrix_column, loaded_column, stored_column, share_column, column_count };

  /// Nothing: the configuration does not run.
  void set_exploration(const analysis::Exploration* exploration);

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return column_count; }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  struct Line {
    std::array<QString, column_count> texts;
    QString help;
    bool sum = false;
  };
  std::vector<Line> lines_;
};

}  // namespace attnscope::ui
