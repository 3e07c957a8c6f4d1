// SPDX-License-Identifier: GPL-3.0-or-later
// A row of chips above a page: lead chips, the facets of a ProblemFilter, then the page's own choices. Chips that do
// not fit move into a menu at the end. Layout depends on points and width only, so a choice never moves a chip.
#pragma once

#include <QJsonObject>
#include <QString>
#include <QWidget>
#include <map>
#include <memory>
#include <string>
#include <utility>
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

  /// Values of each facet among the candidate rows.
  using Values = std::vector<std::vector<Option>>;
  /// Thread-safe.
  [[nodiscard]] static Values values_of(const ProblemFilter& filter, const analysis::PointTable& table,
                                        const std::vector<Row>& rows);
  /// Shows the state of the filter. `values`: values among the candidate rows; all of them are offered.
  void refresh(const Values& values);
  /// Chooses the problem of a point. state() does not contain these choices: a later start shows those of the user.
  void choose_problem(const analysis::PointTable& table, analysis::Row row);
  /// Values in words: "d 128, N 4096, full, batch × heads 1 × 16".
  [[nodiscard]] QString text_of(const std::vector<std::pair<std::size_t, analysis::FacetValue>>& values) const;
  /// The choices that have a chip.
  [[nodiscard]] QString text_of_choices() const;
  /// Chips of the facets, in the order of the filter.
  [[nodiscard]] const std::vector<FacetChip*>& chips() const { return chips_; }
  /// Adds a chip before those of the filter; takes ownership.
  void add_leading_chip(FacetChip* chip);
  /// Adds a chip for a choice of the page, after those of the filter.
  FacetChip* add_chip(IdChoice& choice, const Message& label, const Message& help);
  /// Like add_chip(), with all options side by side; for two or three short ones.
  FacetChip* add_switch(IdChoice& choice, const Message& label, const Message& help);
  /// Adds the choice as a submenu of the plot options.
  FacetChip* add_option(IdChoice& choice, const Message& label, const Message& help);
  /// Switches for parts of the plot; first entries of the options menu.
  [[nodiscard]] Toggles& toggles() { return *toggles_; }
  /// Choices that the user made, by facet key.
  [[nodiscard]] QJsonObject state() const;
  void reset();
  /// The caller has to update the filter afterwards.
  void restore(const QJsonObject& state);
  /// Makes the shown choices explicit.
  void keep_choices();

 signals:
  /// The user made a choice; the filter has it but is not updated yet.
  void chosen();

 protected:
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Adds chips for new facets, after the other chips of the filter.
  void add_filter_chips();
  /// Deferred: folding during a show event would leave a chip both hidden and shown.
  void schedule_fold();
  void fold();
  void fill_options_menu();

  ProblemFilter& filter_;
  FacetChip* insert(FacetChip* chip);

  FlowLayout* flow_;
  std::vector<FacetChip*> leading_chips_;
  std::vector<FacetChip*> chips_;
  std::vector<FacetChip*> own_;
  std::vector<FacetChip*> options_;         ///< Always in the menu.
  std::map<QString, std::string> visited_;  ///< Choices by choose_problem().
  QJsonObject before_visit_;                ///< State before them.
  Toggles* toggles_;
  /// Button of the options menu. Chips that do not fit become its submenus, starting with the filter's last facet.
  FacetChip* more_;
};

/// Points, the rows that a page can show, and the filter applied to them. Can be built in any thread.
struct FilteredPoints {
  std::shared_ptr<const PointSet> points;
  std::shared_ptr<const std::vector<Row>> candidates;
  std::shared_ptr<const FacetBar::Values> values;  ///< Null: unknown.
  ProblemFilter filter;
  QString query;  ///< Query that selects `points`.
};

}  // namespace attnscope::ui
