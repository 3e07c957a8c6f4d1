// SPDX-License-Identifier: GPL-3.0-or-later
// Points of a baseline compared with those of candidates, and what the page shows of it. Computed in any thread.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "profiler/compare/comparison_view.h"
#include "ui/models/result_model.h"
#include "ui/pages/compare/side_axis.h"
#include "ui/pages/error_note.h"
#include "ui/process/background_task.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

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
  /// Returns the candidate of that name; null: all candidates.
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

/// Number of rows with a verdict, or without one.
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

struct CompareRequest {
  SideComparisonRequest sides;
  std::shared_ptr<const ComparisonSet> known;    ///< The comparison if already computed; else null.
  std::shared_ptr<const ComparisonTable> all;    ///< Currently shown table without its filter; may be null.
  std::shared_ptr<const ComparisonTable> table;  ///< Currently shown table; may be null.
  RowFilter filter;
  QString other;  ///< Name of the only candidate shown; empty: all.
  QString sorted_by;
  Qt::SortOrder order = Qt::AscendingOrder;
};

struct CompareResult {
  CompareRequest asked;
  std::shared_ptr<const ComparisonSet> set;
  std::shared_ptr<const ComparisonTable> all = {};    ///< All rows; of the plot.
  std::shared_ptr<const ComparisonTable> table = {};  ///< Filtered rows.
  std::vector<Row> rows = {};
  std::vector<std::vector<TextSample>> longest = {};
  bool partners = false;
  std::set<SimulatedGroup> simulated = {};
};
[[nodiscard]] CompareResult view_of(const CompareRequest& asked, const StaleCheck& outdated);

}  // namespace attnscope::ui
