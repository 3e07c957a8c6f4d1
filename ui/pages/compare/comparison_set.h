// SPDX-License-Identifier: GPL-3.0-or-later
// Sides of a comparison, points of a baseline compared with those of candidates, and what the page shows of it,
// computed in any thread; and the head of the page: answer, numbers of verdicts that filter the table, and folded
// details.
#pragma once

#include <QLabel>
#include <QString>
#include <QToolButton>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profiler/compare/alignment.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/points/facets.h"
#include "ui/models/result_model.h"
#include "ui/pages/page.h"
#include "ui/process/background_task.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

/// Axis that divides points into sides: the run, a property of the run, or a field or knob of the points.
struct SideAxis {
  QString key;  ///< "run", "driver", "device", "algorithm"
  QString label;
  std::vector<std::string> names;    ///< Names of fields or knobs; empty for properties of runs.
  std::vector<std::uint32_t> codes;  ///< Side of each row.
  std::vector<QString> values;       ///< Side name of each code.

  [[nodiscard]] std::optional<std::uint32_t> side_named(const QString& name) const;
};
/// Returns the axes with two or more sides: properties of runs (sides in order of start time), then device, algorithm,
/// tile and knobs, then fields of the problem.
[[nodiscard]] std::vector<SideAxis> side_axes(const PointSet& points);
/// Returns the side with the most points that another side also has (the first of several). Null if no two sides share
/// a point.
[[nodiscard]] std::optional<std::uint32_t> best_matched_side(const PointSet& points, const SideAxis& axis);
struct SideComparisonRequest {
  std::shared_ptr<const PointSet> points;
  SideAxis axis;
  std::uint32_t base = 0;                       ///< Code of the baseline on the axis.
  std::optional<double> margin = std::nullopt;  ///< Null: default margin for the way the sides were recorded.
  std::optional<analysis::ComparedTiles> tiles = std::nullopt;  ///< Null: default for the sides.
};

struct ComparisonSet {
  SideComparisonRequest asked;
  /// Candidates in the order of the axis: those that share a point with the baseline; all if none does.
  analysis::ComparisonView view;

  [[nodiscard]] const std::shared_ptr<const PointSet>& points() const { return asked.points; }
  [[nodiscard]] const analysis::PointTable& table() const { return asked.points->table(); }
  [[nodiscard]] const SideAxis& axis() const { return asked.axis; }
  [[nodiscard]] QString base_name() const { return asked.axis.values[asked.base]; }
  [[nodiscard]] QString name_of(std::size_t side) const { return QString::fromStdString(view.sides[side]->name); }
  [[nodiscard]] std::optional<std::size_t> side_named(const QString& name) const;
};
/// Takes long; thread-safe. Returns null if cancelled.
[[nodiscard]] std::shared_ptr<const ComparisonSet> compare_sides(const SideComparisonRequest& ask,
                                                                 const StaleCheck& cancelled = {});

/// Rows to show. Empty: all.
struct RowFilter {
  QString verdict;  ///< Key of VerdictCount.
  QString group;    ///< Label of a row of the strip chart.

  [[nodiscard]] bool empty() const { return verdict.isEmpty() && group.isEmpty(); }
  bool operator==(const RowFilter&) const = default;
};

struct VerdictCount {
  QString key;  ///< "slower"; "not_compared".
  QString title;
  std::size_t count = 0;
};
[[nodiscard]] std::vector<VerdictCount> verdict_counts(const analysis::ComparisonView& view);

/// Table of a comparison, with a column for each setting in which its points differ.
class ComparisonTable {
 public:
  /// `side`: the candidate to show; null: all.
  ComparisonTable(std::shared_ptr<const ComparisonSet> set, std::optional<std::size_t> side, RowFilter filter = {});
  ComparisonTable(const ComparisonTable&) = delete;
  ComparisonTable& operator=(const ComparisonTable&) = delete;

  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& set() const { return set_; }
  [[nodiscard]] std::optional<std::size_t> side() const { return side_; }
  [[nodiscard]] const RowFilter& filter() const { return filter_; }
  /// Rows of the strip chart. Pre: filter().empty().
  [[nodiscard]] std::vector<analysis::StripGroup> groups() const { return analysis::strip_groups(view_, lines_, true); }
  [[nodiscard]] const analysis::ComparisonView& view() const { return view_; }
  [[nodiscard]] const analysis::Table& table() const { return table_; }
  [[nodiscard]] std::size_t side_of(std::size_t line) const { return lines_[line].side; }
  /// Null for points that have no partner.
  [[nodiscard]] const analysis::ComparedPair* pair(std::size_t line) const { return lines_[line].pair; }
  /// Point of a line: of the candidate if `of_other`, else of the baseline.
  [[nodiscard]] std::optional<ShownPoint> point(std::size_t line, bool of_other) const;
  [[nodiscard]] std::optional<std::size_t> line_of(Row point) const;
  /// Values common to all lines: "All rows: d 128, full, bf16."; may be empty.
  [[nodiscard]] const Message& common() const { return common_; }

 private:
  void apply_filter();
  void make_table();

  std::shared_ptr<const ComparisonSet> set_;
  std::optional<std::size_t> side_;
  RowFilter filter_;
  analysis::ComparisonView view_;
  std::vector<analysis::ComparisonLine> lines_;
  std::vector<std::uint32_t> line_by_row_;  ///< Line + 1 by row of the points; 0: none.
  Message common_;
  analysis::Table table_;
};

/// Provenance of a ratio: derived if both sides are measured, else that of the side that is not.
[[nodiscard]] Provenance provenance_of(const analysis::PointTable& table, const analysis::ComparedPair& pair);

struct CompareResult;

/// Choices of the page. An empty or unknown axis or baseline is chosen automatically.
struct CompareRequest {
  std::shared_ptr<const PointSet> points;
  QString axis;
  QString base;
  std::optional<double> margin = std::nullopt;
  std::optional<analysis::ComparedTiles> tiles = std::nullopt;
  RowFilter filter = {};
  QString other = {};  ///< Name of the only candidate shown; empty: all.
  QString sorted_by = {};
  Qt::SortOrder order = Qt::AscendingOrder;
  std::shared_ptr<const CompareResult> known = nullptr;  ///< An earlier result, parts of which may fit; may be null.

  /// Returns whether the comparisons are equal; candidate, filter and order may differ.
  [[nodiscard]] bool has_same_sides(const CompareRequest& request) const;
};

struct CompareResult {
  CompareRequest asked;  ///< Without `known`.
  std::shared_ptr<const std::vector<SideAxis>> axes;
  std::size_t axis = 0;                               ///< Index in `axes`.
  std::uint32_t baseline = 0;                         ///< Code on the axis.
  std::shared_ptr<const ComparisonSet> set = {};      ///< Null if there is no axis.
  std::shared_ptr<const ComparisonTable> all = {};    ///< All rows; of the plot.
  std::shared_ptr<const ComparisonTable> table = {};  ///< Filtered rows.
  std::vector<Row> rows = {};
  bool partners = false;
  std::set<SimulatedGroup> simulated = {};
};
[[nodiscard]] CompareResult compare(const CompareRequest& asked, const StaleCheck& outdated);

class ComparisonSummary : public QWidget {
  Q_OBJECT
 public:
  explicit ComparisonSummary(QWidget* parent);

  void set_result(const CompareResult& found);
  [[nodiscard]] bool folded() const { return details_->isHidden(); }
  [[nodiscard]] QString answer() const { return answer_->text(); }
  [[nodiscard]] QString differences() const { return differences_->text(); }
  [[nodiscard]] QString details() const { return details_->text(); }
  [[nodiscard]] QToolButton* copy_button() const { return copy_; }

 signals:
  void verdict_clicked(const QString& key);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void style();
  void fold();
  void show_counts(const std::vector<VerdictCount>& counts, const QString& shown);

  QLabel* answer_;
  QWidget* counts_;
  std::vector<QToolButton*> verdict_buttons_;
  QLabel* detectable_;
  QToolButton* copy_;
  QToolButton* more_;
  ElidedLabel* differences_;
  QLabel* details_;
  QString command_;
};

}  // namespace attnscope::ui
