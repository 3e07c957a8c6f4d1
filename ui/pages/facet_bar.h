// SPDX-License-Identifier: GPL-3.0-or-later
// A ProblemFilter as a row of chips. Which chips there are, and how wide, depends on the points and never on a choice:
// nothing moves when one is made.
#pragma once

#include <QComboBox>
#include <QJsonObject>
#include <QWidget>
#include <memory>
#include <vector>

#include "ui/models/point_set.h"
#include "ui/pages/facet_chip.h"

namespace attnscope::ui {

class FacetBar : public QWidget {
  Q_OBJECT
 public:
  explicit FacetBar(ProblemFilter& filter, QWidget* parent = nullptr);

  /// Shows the filter's present state, among these rows of the points.
  void refresh(const std::shared_ptr<const PointSet>& points, const std::vector<Row>& rows);
  /// Chooses the problem of a row, facet by facet.
  void choose_problem_of(const analysis::PointTable& table, analysis::Row row);
  /// As the filter has its facets.
  [[nodiscard]] const std::vector<FacetChip*>& chips() const { return chips_; }
  /// A labelled combo box after the chips. `characters`: as wide as that many, for one whose entries change; 0: as its
  /// entries ask for.
  QComboBox* add_combo(const QString& label, const QString& help, int characters = 0);
  /// A chip of the page's own after those of the filter.
  FacetChip* add_chip(const QString& label, const QString& help);
  /// The choices made by hand, by the facets' labels.
  [[nodiscard]] QJsonObject state() const;
  /// The filter then wants an update().
  void restore(const QJsonObject& state);

 signals:
  /// The user chose; the filter has been told, and wants an update().
  void chosen();

 private:
  /// Which values a facet has in these rows, in their order.
  void show_chips_of(const analysis::PointTable& table, const std::vector<Row>& rows);

  ProblemFilter& filter_;
  std::vector<FacetChip*> chips_;
  std::shared_ptr<const PointSet> points_;  ///< whose chips there are
  std::vector<Row> rows_;                   ///< likewise
  std::vector<bool> narrowing_;             ///< likewise
};

}  // namespace attnscope::ui
