// SPDX-License-Identifier: GPL-3.0-or-later
// A ProblemFilter as a row of labelled combo boxes.
#pragma once

#include <QComboBox>
#include <QJsonObject>
#include <QWidget>
#include <vector>

#include "ui/models/point_set.h"

namespace attnscope::ui {

class FacetBar : public QWidget {
  Q_OBJECT
 public:
  explicit FacetBar(ProblemFilter& filter, QWidget* parent = nullptr);

  /// Shows the filter's present state.
  void refresh();
  /// Chooses the problem of a row, facet by facet.
  void choose_problem_of(const analysis::PointTable& table, analysis::Row row);
  [[nodiscard]] QComboBox* combo(std::size_t facet) const { return combos_[facet]; }
  /// A labelled combo box after the facets' own.
  QComboBox* add_combo(const QString& label, const QString& help);
  /// The choices made by hand, by the facets' labels.
  [[nodiscard]] QJsonObject state() const;
  /// The filter then wants an update().
  void restore(const QJsonObject& state);

 signals:
  /// The user chose; the filter has been told, and wants an update().
  void chosen();

 private:
  ProblemFilter& filter_;
  std::vector<QComboBox*> combos_;
};

}  // namespace attnscope::ui
