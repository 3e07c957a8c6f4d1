// SPDX-License-Identifier: GPL-3.0-or-later
// A ProblemFilter as a row of labelled combo boxes.
#pragma once

#include <QComboBox>
#include <QWidget>
#include <vector>

#include "ui/models/problem_filter.h"

namespace attnscope::ui {

class FacetBar : public QWidget {
  Q_OBJECT
 public:
  explicit FacetBar(ProblemFilter& filter, QWidget* parent = nullptr);

  /// Shows the filter's present state.
  void refresh();
  [[nodiscard]] QComboBox* combo(std::size_t facet) const { return combos_[facet]; }

 signals:
  /// The user chose; the filter has been told, and wants an update().
  void chosen();

 private:
  ProblemFilter& filter_;
  std::vector<QComboBox*> combos_;
};

}  // namespace attnscope::ui
