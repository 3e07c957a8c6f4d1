// SPDX-License-Identifier: GPL-3.0-or-later
// The exponents of N, d and M as a table: the theorem's, then of each series its own and those of its closed form.
#pragma once

#include <memory>
#include <vector>

#include "profiler/analysis/law_exponents.h"
#include "ui/models/table_model.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

using analysis::LawFamily;
using analysis::LawLevel;

/// The families of one problem, and the points that they are of.
struct LawSet {
  std::shared_ptr<const PointSet> points;
  std::vector<LawFamily> families;
  QString problem;  ///< what they have in common
};

/// "SM↔L2", "DRAM, settled".
[[nodiscard]] QString level_words(LawLevel level);
/// "FA1"; with device, kind of run and run where the set has several of an algorithm.
[[nodiscard]] QString family_title(const LawSet& set, const LawFamily& family);
/// The algorithm's colour; paler for each further series of it.
[[nodiscard]] QColor family_color(const LawSet& set, const LawFamily& family, bool dark);

class LawModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  enum Column {
    series_column,
    source_column,
    n_column,
    d_column,
    m_column,
    miss_column,
    points_column,
    band_column,
    column_count
  };

  void set_laws(LawSet set);
  /// Whether the row says why there are no exponents, across their columns.
  [[nodiscard]] bool is_withheld(int row) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return column_count; }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  enum class Kind { theorem, found, closed_form };
  struct Line {
    Kind kind = Kind::theorem;
    std::size_t family = 0;
  };
  [[nodiscard]] QString text_of(const Line& line, int column) const;
  [[nodiscard]] QString tip_of(const Line& line, int column) const;

  LawSet set_;
  std::vector<Line> lines_;
};

}  // namespace attnscope::ui
