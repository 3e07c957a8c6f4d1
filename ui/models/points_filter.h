// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a PointsTableModel that every word of a filter fits, sorted with what has no value at the end.
//
// A number (4096, 4k) is an N, d, Br, Bc or dropout probability, whole: 64 is not 640, nor a number of heads. 128x64 is
// a tile. column=value is that column's value, whole: heads=64, warps=4, run=memory-wall. Any other word is part of a
// text of the point's own: fa1, causal. What its run is called says nothing of the point.
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>
#include <vector>

#include "ui/models/points_table_model.h"

namespace attnscope::ui {

class PointsFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit PointsFilter(PointsTableModel& model, QObject* parent = nullptr);

  void set_words(const QString& text);

 signals:
  /// The rows are sorted by what they were sorted by, which now stands in another column; -1: in none.
  void sort_column_moved(int column);

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  struct Term {
    enum class Kind { text, number, tile, named } kind = Kind::text;
    QString text = {};    ///< what is looked for; of a tile: Br
    QString second = {};  ///< of a tile: Bc
    QString name = {};    ///< of a named one: the key of its column
    int column = -1;      ///< that has this name now; -1: none
  };
  [[nodiscard]] static Term parse(const QString& word);
  void find_columns();
  [[nodiscard]] bool fits(const Term& term, int row) const;
  [[nodiscard]] QString text_at(int row, int column) const;
  [[nodiscard]] bool has_whole(int row, int column, const QString& value) const;

  PointsTableModel& model_;
  std::vector<Term> terms_;
  QString sorted_by_;  ///< while the model is reset
};

}  // namespace attnscope::ui
