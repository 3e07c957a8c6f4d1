// SPDX-License-Identifier: GPL-3.0-or-later
// A ProblemFilter as a row of chips. Which chips there are, and how wide, depends on the points and the room, and never
// on a choice: nothing moves when one is made.
#pragma once

#include <QJsonObject>
#include <QWidget>
#include <functional>
#include <vector>

#include "ui/pages/choice.h"
#include "ui/pages/choice_box.h"
#include "ui/pages/facet_chip.h"
#include "ui/runs/point_set.h"

class QToolButton;

namespace attnscope::ui {

class FlowLayout;

class FacetBar : public QWidget {
  Q_OBJECT
 public:
  explicit FacetBar(ProblemFilter& filter, QWidget* parent = nullptr);

  /// Of each facet, in their order, the values that some rows have: what the widths of the chips follow from.
  using Texts = std::vector<QStringList>;
  /// In any thread.
  [[nodiscard]] static Texts texts_of(const ProblemFilter& filter, const analysis::PointTable& table,
                                      const std::vector<Row>& rows);
  /// Shows the filter's present state, among the rows that have these values.
  void refresh(const Texts& texts);
  /// Chooses the problem of a row, facet by facet.
  void choose_problem_of(const analysis::PointTable& table, analysis::Row row);
  /// As the filter has its facets.
  [[nodiscard]] const std::vector<FacetChip*>& chips() const { return chips_; }
  /// A labelled combo box after the chips, for a choice of the page's own. `characters`: as wide as that many, for one
  /// whose entries change; 0: as its entries ask for. `picked`: what a pick calls for, if not choose().
  ChoiceBox* add_combo(IdChoice& choice, const QString& label, const QString& help, int characters = 0,
                       std::function<void(const QString&)> picked = {});
  /// The same as a chip after those of the filter.
  FacetChip* add_chip(IdChoice& choice, const QString& label, const QString& help,
                      std::function<void(const QString&)> picked = {});
  /// Chips that have no room in that many rows become submenus of a last one, those of the filter first, from its last
  /// facet on. 0: as many rows as there are.
  void set_most_rows(int rows);
  /// That last button.
  [[nodiscard]] QToolButton* more() const { return more_; }
  /// The choices made by hand, by the facets' keys.
  [[nodiscard]] QJsonObject state() const;
  /// The filter then wants an update().
  void restore(const QJsonObject& state);

 signals:
  /// The user chose; the filter has been told, and wants an update().
  void chosen();

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Those that it has none of yet, after the others of the filter.
  void add_chips_of_filter();
  /// Not at once: a chip may be on its way to be shown, and what is hidden meanwhile would be both.
  void fold_soon();
  void fold();
  void fill_more();

  ProblemFilter& filter_;
  FlowLayout* flow_;
  std::vector<FacetChip*> chips_;
  std::vector<FacetChip*> own_;  ///< the page's
  QToolButton* more_;
  int most_rows_ = 0;
};

}  // namespace attnscope::ui
