// SPDX-License-Identifier: GPL-3.0-or-later
// Sides held to a baseline: what else differs, then the verdicts as a table, as a map of ratios, or as curves.
#pragma once

#include <QDoubleSpinBox>
#include <QStackedLayout>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/pages/compare/compared_words.h"
#include "ui/pages/compare/ratio_plot.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/problem_page.h"
#include "ui/plots/heatmap_view.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class ComparePage : public ProblemPage {
  Q_OBJECT
 public:
  explicit ComparePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return views_->currentWidget(); }
  [[nodiscard]] bool has_plot() const override;
  /// "compare-map-run-d128-causal-1x132"
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return words().isEmpty(); }
  /// The table's lines, of those points alone that the view shows.
  [[nodiscard]] ShownValues values() const override;
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;
  void pose() override;

  using View = CompareAs;
  void set_view(View view) { view_.choose(view); }
  [[nodiscard]] View shown_view() const { return view_.value(); }
  /// What the map lies over, rows first, and what the curves do, by the axes' keys.
  void set_map_axes(const QString& rows, const QString& columns);
  void set_curve_axis(const QString& key);
  /// By their keys and names, as saved choices have them; what there is none of leaves the page to choose.
  void compare_by(const QString& key) { by_.choose(key); }
  void set_baseline(const QString& side) { base_.choose(side); }
  /// One of the other sides; empty: all of them.
  void set_other(const QString& side) { other_.choose(side); }
  void set_margin(double percent) { margin_->setValue(percent); }

  /// What is shown; null until a first comparison is there.
  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& comparison() const { return set_; }
  [[nodiscard]] PlainTable* table() const { return table_; }
  [[nodiscard]] HeatmapView* map() const { return map_; }
  [[nodiscard]] RatioPlot* plot() const { return plot_; }
  [[nodiscard]] const ResultModel& model() const { return *model_; }
  [[nodiscard]] const ShownComparison& shown() const { return *shown_; }
  /// What stands above: the answer, then the verdicts counted, then the rest, a line each.
  [[nodiscard]] QString summary() const { return words_->summary(); }
  [[nodiscard]] const ComparedWords& said() const { return *words_; }
  [[nodiscard]] QString method() const { return words_->method(); }

 protected:
  void fill_menu(QMenu& menu) override;
  void show_words(const EmptyWords& words) override;
  void show_problem() override { show_comparison(); }
  void show_choices() override;
  void show_points() override { refresh(); }
  [[nodiscard]] bool may_stay() const override { return set_ != nullptr || found_.busy(); }
  bool show_mark(const ShownPoint& point, bool moves) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_controls();
  void keep_choices();
  void add_content();
  void add_keys();
  /// Asks for what is chosen, of the points that are visible now.
  void refresh();
  struct SidesAsk {
    std::shared_ptr<const PointSet> points;
    std::vector<SideAxis> axes;  ///< theirs, where they are known
    QString by;
    QString base;
    QString query;  ///< which the points fit
  };
  struct Sides {
    SidesAsk asked;
    std::vector<SideAxis> axes;
    std::size_t axis = 0;
    std::uint32_t baseline = 0;
  };
  /// What there is to choose of the points, and what of that the keys and names choose; in any thread.
  [[nodiscard]] static Sides sides_of(const SidesAsk& asked, const Outdated& outdated);
  void offer_sides();
  /// Shows what is chosen of the points that are visible: compared aside, and where it is, what is shown of many
  /// points found aside.
  void ask();
  /// The same, where anything was asked before.
  void show_comparison();
  /// Nothing is compared, or shown of it, any more.
  void drop();
  void show_found(ComparedView found);
  void take_narrowed(ComparedView& found);
  void say_failed(const QString& reason);
  void offer_others();
  void show_view(ComparedView& found);
  /// In place of a view.
  void show_no_view(const EmptyWords& words);
  void size_columns();
  [[nodiscard]] std::size_t line_of(int row) const { return static_cast<std::size_t>(model_->line_of(row)); }
  void select_of(int row, bool of_other);
  [[nodiscard]] const SideAxis* axis() const;
  /// The rows of the model that are selected, the current one first.
  [[nodiscard]] std::optional<int> current_row() const;

  IdChoice by_;  ///< of each of these: empty where the page chooses
  IdChoice base_;
  IdChoice other_;  ///< empty: all of them
  Choice<View> view_;
  QString rows_key_;  ///< of the map's axes; empty: the page chooses
  QString columns_key_;
  QString along_key_;  ///< of the curves' axis; empty: the page chooses
  QString sorted_by_ = QStringLiteral("verdict");
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
  QString compared_by_;  ///< what the names of the sides are of
  FacetChip* by_chip_ = nullptr;
  FacetChip* base_chip_ = nullptr;
  FacetChip* other_chip_ = nullptr;
  FacetChip* layout_chip_ = nullptr;
  QDoubleSpinBox* margin_ = nullptr;
  ComparedWords* words_ = nullptr;
  QStackedLayout* views_ = nullptr;
  PlainTable* table_ = nullptr;
  HeatmapView* map_ = nullptr;
  RatioPlot* plot_ = nullptr;
  EmptyState* no_view_ = nullptr;
  ResultModel* model_ = nullptr;

  std::shared_ptr<const PointSet> visible_ = std::make_shared<const PointSet>();
  QString visible_of_;  ///< the query that they fit
  std::vector<SideAxis> axes_;
  std::size_t axis_ = 0;
  std::uint32_t baseline_ = 0;
  std::shared_ptr<const ComparisonSet> set_;      ///< what is shown
  std::shared_ptr<const ShownComparison> shown_;  ///< the table's
  std::vector<std::vector<TextSample>> longest_;
  Live<SidesAsk, Sides> sides_;
  Live<ComparedAsk, ComparedView> found_;
};

}  // namespace attnscope::ui
