// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows as one row of chips: what leads it, a ProblemFilter, choices of the page's own. The rest, and what
// the row has no room for, stands in one menu at its end. Which chips there are, and how wide, depends on the points
// and the room, and never on a choice: nothing moves when one is made.
#pragma once

#include <QJsonObject>
#include <QString>
#include <QWidget>
#include <functional>
#include <memory>
#include <vector>

#include "ui/pages/choice.h"
#include "ui/pages/facet_chip.h"
#include "ui/runs/point_set.h"

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
  /// Before those of the filter; becomes the bar's own.
  void add_lead(FacetChip* chip);
  /// After them, for a choice of the page's own. `picked`: what a pick calls for, if not choose().
  FacetChip* add_chip(IdChoice& choice, const QString& label, const QString& help);
  /// The same as a submenu of the plot's options.
  FacetChip* add_option(IdChoice& choice, const QString& label, const QString& help);
  /// What of the plot is shown or not, the first entries of its options.
  [[nodiscard]] Toggles& toggles() { return *toggles_; }
  /// The button of that menu. Chips that have no room become submenus of it, those of the filter first, from its last
  /// facet on.
  [[nodiscard]] FacetChip* more() const { return more_; }
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
  FacetChip* add(IdChoice& choice, const QString& label, const QString& help);

  FlowLayout* flow_;
  std::vector<FacetChip*> leads_;
  std::vector<FacetChip*> chips_;
  std::vector<FacetChip*> own_;      ///< the page's
  std::vector<FacetChip*> options_;  ///< never in the row
  Toggles* toggles_;
  FacetChip* more_;
};

/// Points, those rows of them that a page can show, and what the filter makes of them: made in any thread, then shown.
struct Narrowed {
  std::shared_ptr<const PointSet> points;
  std::shared_ptr<const std::vector<Row>> candidates;
  std::shared_ptr<const FacetBar::Texts> texts;  ///< null: not known of them
  ProblemFilter filter;
  QString query;  ///< which the points fit

  /// Of other points, or by another filter. `points` have to be those of the query, or some of them.
  void narrow(std::shared_ptr<const PointSet> of, std::vector<Row> rows);
};

}  // namespace attnscope::ui
