// SPDX-License-Identifier: GPL-3.0-or-later
// Compares candidates with a baseline: answer, numbers of verdicts, ratios as a strip chart, and a table of rows.
#pragma once

#include <QDoubleSpinBox>
#include <QLabel>
#include <QSplitter>
#include <QStackedLayout>
#include <memory>
#include <optional>
#include <vector>

#include "ui/pages/compare/comparison_summary.h"
#include "ui/pages/compare/ratio_plot.h"
#include "ui/pages/empty_state.h"
#include "ui/pages/error_note.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

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

  /// Choices by key or name, as in the saved state. The page chooses automatically if the key or name is unknown.
  void set_side_axis(const QString& key) { axis_choice_.choose(key); }
  void set_baseline(const QString& side) { baseline_choice_.choose(side); }
  /// One candidate; empty: all.
  void set_candidate(const QString& side) { candidate_choice_.choose(side); }
  /// "best", "automatic" or "equal"; empty: the default for the sides.
  void set_tiles(const QString& key) { tiles_choice_.choose(key); }
  void set_margin(double percent) { margin_->setValue(percent); }
  /// Shows the rows of one verdict or of one row of the plot in the table; empty: all.
  void set_filter(const RowFilter& filter);
  [[nodiscard]] const RowFilter& filter() const { return filter_; }

  /// The shown comparison; null before the first.
  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& comparison() const { return set_; }
  [[nodiscard]] PlainTable* table() const { return table_; }
  [[nodiscard]] RatioPlot* plot() const { return plot_; }
  [[nodiscard]] const ResultModel& model() const { return *model_; }
  [[nodiscard]] const ComparisonTable& shown() const { return *shown_; }
  /// Text shown instead of the content; empty while there is content.
  [[nodiscard]] QString replacement_text() const;
  [[nodiscard]] const ComparisonSummary& summary() const { return *words_; }
  /// Line above the table: what all shown rows have in common.
  [[nodiscard]] QString common() const { return common_->text(); }

 protected:
  void fill_menu(QMenu& menu) override;
  void show_choices() override;
  void rebuild_page() override { refresh(); }
  [[nodiscard]] bool can_stay_visible() const override { return set_ != nullptr || found_.is_busy(); }
  bool show_mark(const ShownPoint& point, bool moves) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add_controls();
  void register_choices();
  void add_content();
  [[nodiscard]] QWidget* make_table_panel(QWidget* parent);
  void add_keys();
  void add_connections();
  /// Requests the comparison of the visible points with the current choices.
  void refresh();
  struct SidesRequest {
    std::shared_ptr<const PointSet> points;
    std::vector<SideAxis> axes;  ///< Axes known for `points`; empty: find them.
    QString by;
    QString base;
  };
  struct Sides {
    SidesRequest asked;
    std::vector<SideAxis> axes;
    std::size_t axis = 0;
    std::uint32_t baseline = 0;
  };
  /// Returns the axes of the points, with the axis and baseline that the keys choose; thread-safe.
  [[nodiscard]] static Sides sides_of(const SidesRequest& asked, const StaleCheck& outdated);
  void offer_sides();
  /// Shows the chosen comparison; for many points it is computed in a background thread.
  void request_comparison();
  /// Updates the shown comparison; does nothing before the first request.
  void show_comparison();
  /// Drops the pending comparison and the shown one.
  void discard_results();
  void apply_result(CompareResult found);
  void show_text(const EmptyStateText& words);
  void show_failure(const QString& reason);
  void offer_candidates();
  void offer_tiles();
  void size_columns();
  /// Gives the plot the height of its rows, and the table the rest, until the user moves the divider.
  void size_parts();
  void show_filter();
  [[nodiscard]] std::size_t line_of(int row) const { return static_cast<std::size_t>(model_->line_of(row)); }
  void select_point_of(int row, bool of_other);
  [[nodiscard]] const SideAxis* axis() const;
  /// Selected row of the model, the current one first.
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
  QStackedLayout* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  ErrorNote* note_ = nullptr;
  PlainTable* table_ = nullptr;
  RatioPlot* plot_ = nullptr;
  QSplitter* parts_ = nullptr;
  bool sized_by_user_ = false;
  QLabel* common_ = nullptr;
  QToolButton* show_all_ = nullptr;
  ResultModel* model_ = nullptr;

  std::shared_ptr<const PointSet> visible_ = std::make_shared<const PointSet>();
  std::vector<SideAxis> axes_;
  std::size_t axis_ = 0;
  std::uint32_t baseline_ = 0;
  std::shared_ptr<const ComparisonSet> set_;
  std::shared_ptr<const ComparisonTable> all_;    ///< Rows of the plot.
  std::shared_ptr<const ComparisonTable> shown_;  ///< Rows of the table.
  RowFilter filter_;
  std::vector<std::vector<TextSample>> longest_;
  BackgroundTask<SidesRequest, Sides> sides_;
  BackgroundTask<CompareRequest, CompareResult> found_;
};

}  // namespace attnscope::ui
