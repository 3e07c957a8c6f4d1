// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of pages that show one problem at a time: a filter over the visible points. Its facets are a row of chips;
// those that do not fit move into a menu at the end. Layout depends on points and width only, so a choice never moves a
// chip.
#pragma once

#include <QJsonObject>
#include <QLabel>
#include <QString>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/points/facets.h"
#include "profiler/tilemap/tile_map.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/runs/point_set.h"
#include "ui/text/qtext.h"

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
  void choose_problem(const analysis::PointTable& table, analysis::Row row);
  /// Values in words: "d 128, N 4096, full, batch × heads 1 × 16".
  [[nodiscard]] QString text_of(const std::vector<std::pair<std::size_t, analysis::FacetValue>>& values) const;
  [[nodiscard]] QString text_of_choices() const;
  /// Chips of the facets, in the order of the filter.
  [[nodiscard]] const std::vector<FacetChip*>& chips() const { return chips_; }
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
  void reset() { filter_.reset(); }
  /// The caller has to update the filter afterwards.
  void restore(const QJsonObject& state);
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
  std::vector<FacetChip*> options_;  ///< Always in the menu.
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
};

class ProblemPage : public Page {
  Q_OBJECT
 public:
  /// Chooses a problem of the run unless one of its points is shown. Returns false if the page can show none of them.
  bool show_problem_of_run(const QString& file, std::int64_t run);
  /// Options of a field, by its label or key ("d", "Pass", "mask"); they depend on the choices before it.
  [[nodiscard]] QStringList options(const QString& field) const;
  void choose(const QString& field, const QString& id);
  [[nodiscard]] bool has_plot() const override { return replacement_text().isEmpty(); }

  /// Makes the shown choices explicit, so that another window shows the same problem.
  void keep_choices() { facets_->keep_choices(); }

 protected:
  /// Adds the content, with `below` and the error note under it, at the end of the page's layout.
  void set_content(QWidget* content, QWidget* below = nullptr);
  using FilterFactory = std::function<ProblemFilter()>;
  /// `filter_factory` creates a filter without choices. The page's layout is a column that begins with the facets.
  ProblemPage(Workspace& workspace, const FilterFactory& filter_factory, QWidget* parent);

  [[nodiscard]] bool can_stay_visible() const override { return has_plot(); }
  /// Chooses the problem of the first point that matches, on the current axes, unless such a point is shown.
  bool show_problem_of(const std::function<bool(const ShownPoint&)>& wanted);
  /// Shows the problem that the filter has chosen. Called after each change of the choice.
  virtual void show_problem() = 0;
  void show_choices() override { show_problem(); }
  void rebuild_page() override { show_problem(); }
  void reset_choices() override;
  void follow(const ShownPoint& point) override;
  /// Says below the content that a choice follows the selected point. `back` undoes it.
  void note_followed(const QString& change, std::function<void()> back);
  struct Collection {
    QString preset;
    /// Names of axes that the preset or the page sets.
    std::vector<std::string_view> free_axes = {};
  };
  [[nodiscard]] virtual Collection collection() const {
    return {.preset = QStringLiteral("memory-wall"), .free_axes = {"algorithm", "N", "n_q", "n_k", "br", "bc"}};
  }
  /// Returns the nearest combinations if the chosen one has no points but others do. `what`: "heatmap".
  [[nodiscard]] std::optional<EmptyStateText> absent_text(const Message& what);
  [[nodiscard]] std::optional<EmptyStateText> absent_option_text(const Message& what, IdChoice& choice) const;
  /// Returns the visible rows that the page can show. Called in any thread.
  using Find = std::function<std::vector<Row>(const analysis::PointTable&)>;
  /// Finds the rows that the page can show, applies the filter, then calls `show`; in a background thread for many
  /// points. A new call replaces a pending one. `of` identifies `find`: with equal points and equal `of` the rows are
  /// reused.
  void search_points(const std::string& of, Find find, std::function<void()> show);
  /// Drops a pending search; its result would undo later choices.
  void cancel_search() { search_.discard(); }
  [[nodiscard]] bool is_searching() const { return search_.is_busy(); }
  void apply_search(FilteredPoints now);
  /// Drops the automatic choices of the filter and keeps those of the user. Call search_points() afterwards.
  void reset_automatic() { filter_.reset_automatic(); }
  void restrict_to(const std::vector<analysis::FacetPtr>& facets, analysis::FacetPtr spread) {
    filter_.restrict_to(facets, std::move(spread));
  }
  [[nodiscard]] Workspace& workspace() const { return workspace_; }
  [[nodiscard]] const ProblemFilter& filter() const { return filter_; }
  [[nodiscard]] const std::shared_ptr<const PointSet>& points() const { return points_; }
  [[nodiscard]] const std::vector<Row>& candidates() const { return *candidates_; }
  [[nodiscard]] FacetBar& facets() const { return *facets_; }

 private:
  void add_followed_note(QBoxLayout& column);
  void clear_followed();
  void show_found();
  /// Axes of a collection with the chosen values; `nearest` provides the others.
  [[nodiscard]] QStringList collected_axes(const ProblemFilter::Alternative& nearest) const;

  Workspace& workspace_;
  ProblemFilter filter_;
  QString shown_query_;                     ///< Query of the last search.
  std::shared_ptr<const PointSet> points_;  ///< All visible points; the filter's rows are those of the shown problem.
  std::shared_ptr<const std::vector<Row>> candidates_ = std::make_shared<std::vector<Row>>();
  std::string candidates_key_;                      ///< `of` of the search that found the candidates.
  std::shared_ptr<const FacetBar::Values> values_;  ///< Facet values of the candidates; null: not computed yet.
  bool starting_ = true;  ///< The first files are still loading, or choices were restored since.
  FacetBar* facets_;
  QLabel* followed_ = nullptr;  ///< Changes of choices that follow the selected point.
  QStringList followed_changes_;
  std::vector<std::function<void()>> followed_backs_;
  struct SearchRequest {
    Find find;
    FilteredPoints before;
  };
  static FilteredPoints find_points(const SearchRequest& asked, const StaleCheck& outdated);
  std::string search_key_;  ///< `of` of the last search.
  std::function<void()> found_;
  BackgroundTask<SearchRequest, FilteredPoints> search_;
};

/// Map layouts as offered and saved: keys of the axes, rows first.
[[nodiscard]] inline QString label_of(const analysis::PointAxis& axis) {
  return qtext(axis.facet->label);
}

/// Returns whether two axes cover a common field; then they cannot be axes of one map.
[[nodiscard]] inline bool share_fields(const analysis::PointAxis& a, const analysis::PointAxis& b) {
  return a.key() == b.key() ||
         std::ranges::any_of(a.names, [&](const std::string& name) { return b.covers_field(name); });
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
[[nodiscard]] inline QString layout_rows(const QString& id) {
  return id.section(QLatin1Char('|'), 0, 0);
}
[[nodiscard]] inline QString layout_columns(const QString& id) {
  return id.section(QLatin1Char('|'), 1);
}

[[nodiscard]] inline Option layout_option(const analysis::MapLayout& layout) {
  return {.text = QStringLiteral("%1 × %2").arg(label_of(layout.y), label_of(layout.x)),
          .id = layout_id(layout),
          .group = label_of(layout.y) + QStringLiteral(" ×")};
}

}  // namespace attnscope::ui
