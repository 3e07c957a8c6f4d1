// SPDX-License-Identifier: GPL-3.0-or-later
// Compares candidates with a baseline: answer, numbers of verdicts, ratios as a strip chart, and a table of rows.
// The chart has one row per algorithm and head dimension. The band is the margin; FASTER and SLOWER points have their
// 95% interval as a bar.
#pragma once

#include <QDoubleSpinBox>
#include <QSplitter>
#include <memory>
#include <optional>

#include "ui/pages/compare/comparison_set.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/plots/point_plot.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

class RatioPlot : public PointPlot {
  Q_OBJECT
 public:
  explicit RatioPlot(QWidget* parent = nullptr);

  /// `group`: label of the highlighted row; empty: none.
  void set_comparison(std::shared_ptr<const ComparisonTable> shown, const QString& group);
  /// Row labels from top to bottom: "FA2 d 64"; with the candidate's name if there are several.
  [[nodiscard]] const QStringList& groups() const { return groups_; }

  [[nodiscard]] QString group_at(const QPoint& position) const;

 signals:
  void group_clicked(const QString& label);

 protected:
  void draw_contents() override;
  void click(const QMouseEvent& event) override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  void set_up_axes();
  void draw_bands();
  void draw_group(std::size_t row, std::vector<std::size_t> lines);
  [[nodiscard]] style::PlotIdentity identity_of(const analysis::ComparedPair& pair) const;
  [[nodiscard]] QColor color_of(const analysis::ComparedPair& pair) const;

  std::shared_ptr<const ComparisonTable> shown_;
  QStringList groups_;
  QString highlighted_;
  double end_ = 2;  ///< The ratios shown are within 1 / end_ and end_.
};

class ComparePage : public Page {
  Q_OBJECT
 public:
  explicit ComparePage(Workspace& workspace, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* view() override { return table_; }
  [[nodiscard]] bool has_plot() const override { return has_values(); }
  [[nodiscard]] QString file_stem() const override;
  [[nodiscard]] PlotPicture picture() const override;
  [[nodiscard]] bool has_values() const override { return replacement_text().isEmpty(); }
  [[nodiscard]] ShownValues values() const override { return table_->values(); }
  [[nodiscard]] std::vector<std::pair<QString, QString>> shortcuts() const override;
  void prepare_screenshot() override;

  /// Shows the rows of one verdict or of one row of the plot in the table; empty: all.
  void set_filter(const RowFilter& filter);
  [[nodiscard]] const RowFilter& filter() const { return filter_; }

  /// The shown comparison; null before the first.
  [[nodiscard]] std::shared_ptr<const ComparisonSet> comparison() const {
    return found_ == nullptr ? nullptr : found_->set;
  }
  [[nodiscard]] PlainTable* table() const { return table_; }
  [[nodiscard]] RatioPlot* plot() const { return plot_; }
  [[nodiscard]] const ResultModel& model() const { return *model_; }
  [[nodiscard]] const ComparisonTable& shown() const { return *found_->table; }
  [[nodiscard]] const ComparisonSummary& summary() const { return *words_; }

 protected:
  void fill_menu(QMenu& menu) override;
  void show_choices() override;
  void rebuild_page() override { refresh(); }
  [[nodiscard]] bool can_stay_visible() const override { return comparison() != nullptr || task_.is_busy(); }
  bool show_mark(const ShownPoint& point, bool moves) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_controls();
  void register_choices();
  void build_content();
  [[nodiscard]] QWidget* make_table_panel(QWidget* parent);
  void add_connections();
  /// Shows the comparison of the visible points by the choices. Computed in a background thread unless only the
  /// candidate, filter or order changed.
  void refresh();
  void apply_result(CompareResult result);
  void offer_sides();
  void offer_candidates();
  void offer_tiles();
  void size_columns();
  /// Gives the plot the height of its rows, and the table the rest, until the user moves the divider.
  void size_parts();
  void show_filter();
  [[nodiscard]] std::size_t line_of(int row) const { return static_cast<std::size_t>(model_->line_of(row)); }
  /// Selects the candidate of a row, or its baseline if it has none.
  void select_point_of(int row);
  [[nodiscard]] std::optional<int> current_row() const;

  Workspace& workspace_;
  IdChoice axis_choice_;  ///< This and the next two: empty for an automatic choice.
  IdChoice baseline_choice_;
  IdChoice candidate_choice_;  ///< Empty: all candidates.
  IdChoice tiles_choice_;      ///< Empty: the default for the sides.
  QString sorted_by_ = QStringLiteral("verdict");
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
  QString compared_axis_;  ///< Axis that `baseline_choice_` and `candidate_choice_` belong to.
  FacetChip* axis_chip_ = nullptr;
  FacetChip* baseline_chip_ = nullptr;
  FacetChip* candidate_chip_ = nullptr;
  FacetChip* tiles_chip_ = nullptr;
  QDoubleSpinBox* margin_ = nullptr;
  ComparisonSummary* words_ = nullptr;
  PlainTable* table_ = nullptr;
  RatioPlot* plot_ = nullptr;
  QSplitter* parts_ = nullptr;
  bool sized_by_user_ = false;
  QLabel* common_ = nullptr;
  QToolButton* show_all_ = nullptr;
  ResultModel* model_ = nullptr;

  std::shared_ptr<const CompareResult> found_;
  RowFilter filter_;
  BackgroundTask<CompareRequest, CompareResult> task_;
};

}  // namespace attnscope::ui
