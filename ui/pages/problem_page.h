// SPDX-License-Identifier: GPL-3.0-or-later
// Base of the pages that show one problem at a time: a filter over the visible points.
#pragma once

#include <QStackedLayout>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/points/facets.h"
#include "profiler/tilemap/tile_map.h"
#include "ui/pages/choice.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/error_note.h"
#include "ui/pages/facet_bar.h"
#include "ui/pages/page.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

class ProblemPage : public Page {
  Q_OBJECT
 public:
  /// Turns to a problem of the run, unless one is shown; false: the page can show none of its points.
  bool turn_to_run(const QString& file, std::int64_t run);
  /// Choices by a field's label or key ("d", "Pass", "mask", ...); what one offers depends on those before it.
  [[nodiscard]] QStringList options(const QString& field) const;
  void choose(const QString& field, const QString& id);
  [[nodiscard]] bool has_plot() const override { return stack_->currentWidget() != empty_; }
  /// What stands in place of the content; empty while that is there.
  [[nodiscard]] QString words() const;
  [[nodiscard]] const ErrorNote& error_note() const { return *note_; }

 protected:
  /// What the page shows, with `below` and the errors of what is simulated below it; at the end of the page's layout.
  void set_content(QWidget* content, QWidget* below = nullptr);
  /// Shows it, with the errors of those parts.
  void show_content(const std::set<SimulatedPart>& parts);
  /// Shows words in its place.
  virtual void show_words(const EmptyWords& words);
  using NewFilter = std::function<ProblemFilter()>;
  /// `new_filter`: one with nothing chosen. The page's layout is a column that holds the facets.
  ProblemPage(Workspace& workspace, const NewFilter& new_filter, QWidget* parent);

  [[nodiscard]] bool may_stay() const override { return has_plot(); }
  /// Turns to the problem of the first such point, of the axes that are chosen, unless one is shown.
  bool turn_to_problem_of(const std::function<bool(const ShownPoint&)>& wanted);
  /// Shows the problem that the filter has chosen: now, and whenever it chooses another.
  virtual void show_problem() = 0;
  void show_choices() override { show_problem(); }
  /// The same of other points.
  virtual void show_points() { show_problem(); }
  /// Those rows of what is visible that the page can show. Called in any thread.
  using Find = std::function<std::vector<Row>(const analysis::PointTable&)>;
  /// From now on shows what is visible: has the rows found that the page can show and the filter narrow them, then
  /// calls `show`; of many points aside, and what was asked before is forgotten. `of`: what `find` goes by besides the
  /// points; of the same points and the same of that the rows are known, and `find` is not called.
  void look_through(const std::string& of, Find find, std::function<void()> show);
  /// Nothing that was looked for is wanted any more: it would undo what was chosen since.
  void stop_looking() { look_.drop(); }
  [[nodiscard]] bool looks() const { return look_.busy(); }
  /// What is shown now, to go on from: its filter has what was chosen, for the points that fit the query now.
  [[nodiscard]] Narrowed narrowed(const QString& query) const;
  void take(Narrowed now);
  /// What the filter took by itself holds no longer; what was chosen by hand does. Wants a look_through().
  void forget_taken() { filter_.forget_taken(); }
  /// ProblemFilter's, of the page's own.
  void narrow_by(const std::vector<analysis::FacetPtr>& facets, analysis::FacetPtr spread) {
    filter_.narrow_by(facets, std::move(spread));
  }
  [[nodiscard]] Workspace& workspace() const { return workspace_; }
  [[nodiscard]] const ProblemFilter& filter() const { return filter_; }
  [[nodiscard]] const std::shared_ptr<const PointSet>& points() const { return points_; }
  [[nodiscard]] const std::vector<Row>& candidates() const { return *candidates_; }
  [[nodiscard]] FacetBar& facets() const { return *facets_; }

 private:
  void show_anew() final;

  Workspace& workspace_;
  ProblemFilter filter_;
  std::optional<ProblemFilter> unfiltered_;  ///< what was taken when no query left points out
  QString taken_of_;                         ///< the query that what is shown fits
  std::shared_ptr<const PointSet> points_;   ///< all that were visible; the filter's rows are of the problem shown
  std::shared_ptr<const std::vector<Row>> candidates_ = std::make_shared<std::vector<Row>>();
  std::string found_of_;                          ///< what they were found by
  std::shared_ptr<const FacetBar::Texts> texts_;  ///< theirs; null: of no points yet
  FacetBar* facets_;
  QStackedLayout* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  struct Look {
    Find find;
    Narrowed before;
  };
  static Narrowed look(const Look& asked, const Outdated& outdated);
  std::string looks_for_;        ///< `of` of what was asked last
  std::function<void()> found_;  ///< shows it
  Live<Look, Narrowed> look_;
};

/// The layouts of maps as they are offered and saved: by the keys of their axes, rows first.
[[nodiscard]] inline QString label_of(const analysis::PointAxis& axis) {
  return qtext(axis.facet->label);
}

/// Whether they speak for a field in common: both cannot be axes of one picture.
[[nodiscard]] inline bool share_names(const analysis::PointAxis& a, const analysis::PointAxis& b) {
  return a.key() == b.key() ||
         std::ranges::any_of(a.names, [&](const std::string& name) { return b.speaks_for(name); });
}

[[nodiscard]] inline QString key_of(const analysis::PointAxis& axis) {
  return QString::fromStdString(axis.key());
}

[[nodiscard]] inline QString layout_id(const QString& rows, const QString& columns) {
  return rows + QLatin1Char('|') + columns;
}
[[nodiscard]] inline QString layout_id(const analysis::MapLayout& layout) {
  return layout_id(key_of(layout.y), key_of(layout.x));
}
[[nodiscard]] inline QString rows_of_layout(const QString& id) {
  return id.section(QLatin1Char('|'), 0, 0);
}
[[nodiscard]] inline QString columns_of_layout(const QString& id) {
  return id.section(QLatin1Char('|'), 1);
}

[[nodiscard]] inline Option layout_option(const analysis::MapLayout& layout) {
  return {.text = QStringLiteral("%1 × %2").arg(label_of(layout.y), label_of(layout.x)),
          .id = layout_id(layout),
          .group = label_of(layout.y) + QStringLiteral(" ×")};
}

}  // namespace attnscope::ui
