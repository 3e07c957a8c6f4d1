// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured from the explorer, beside what was predicted of it.
#pragma once

#include <QString>
#include <array>
#include <vector>

#include "ui/models/table_model.h"
#include "ui/pages/explorer/point_measurer.h"

namespace attnscope::ui {

/// "1.20 ms (simulated)", or how it ended, or that it waits.
[[nodiscard]] QString outcome_words(const MeasuredPoint& point);

class MeasuredModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  enum Column {
    what_column,
    n_column,
    d_column,
    time_column,
    time_ratio_column,
    l2_ratio_column,
    dram_ratio_column,
    column_count
  };

  /// `points` begins with the latest, the table ends with it: none moves. Those of `shown` stand out.
  void set_points(const std::vector<MeasuredPoint>& points, const ExplorerChoices& shown);

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return column_count; }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  struct Line {
    std::array<QString, column_count> texts;
    std::array<double, column_count> numbers{};  ///< to sort by; of `what_column` none
    QString help;
    bool shown = false;
  };
  [[nodiscard]] static Line line_of(const MeasuredPoint& point, bool shown);

  std::vector<Line> lines_;
};

}  // namespace attnscope::ui
