// SPDX-License-Identifier: GPL-3.0-or-later
// Points of some sides, each compared with those of one of them, the baseline, and what the page shows of it: found of
// what is chosen, in any thread.
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
#include "ui/process/live.h"
#include "ui/runs/point_settings.h"

namespace attnscope::ui {

struct ComparisonAsk {
  std::shared_ptr<const PointSet> points;
  SideAxis axis;
  std::uint32_t base = 0;                       ///< a code of the axis
  std::optional<double> margin = std::nullopt;  ///< none: the usual, by how the sides were recorded
};

struct ComparisonSet {
  ComparisonAsk asked;
  /// In the axis' order: every side but the baseline that has a point of it, or where none has, every one.
  analysis::ComparisonView view;

  /// What rows refer to.
  [[nodiscard]] const std::shared_ptr<const PointSet>& points() const { return asked.points; }
  [[nodiscard]] const analysis::PointTable& table() const { return asked.points->table(); }
  [[nodiscard]] const SideAxis& axis() const { return asked.axis; }
  [[nodiscard]] QString base_name() const { return asked.axis.values[asked.base]; }
  [[nodiscard]] QString name_of(std::size_t side) const { return QString::fromStdString(view.sides[side]->name); }
  /// Of that name; nothing: all of them.
  [[nodiscard]] std::optional<std::size_t> side_named(const QString& name) const;
};
/// May take long: to be called in any thread. Null once it is cancelled.
[[nodiscard]] std::shared_ptr<const ComparisonSet> compare_sides(const ComparisonAsk& ask,
                                                                 const Outdated& cancelled = {});

/// A comparison's table, with a column for each setting that sets points apart.
class ShownComparison {
 public:
  /// `side`: the one that is shown; nothing: all of them.
  ShownComparison(std::shared_ptr<const ComparisonSet> set, std::optional<std::size_t> side);
  ShownComparison(const ShownComparison&) = delete;
  ShownComparison& operator=(const ShownComparison&) = delete;

  [[nodiscard]] const std::shared_ptr<const ComparisonSet>& set() const { return set_; }
  [[nodiscard]] std::optional<std::size_t> side() const { return side_; }
  [[nodiscard]] const analysis::ComparisonView& view() const { return view_; }
  [[nodiscard]] const analysis::Table& table() const { return table_; }
  /// Place in view().sides.
  [[nodiscard]] std::size_t side_of(std::size_t line) const { return lines_[line].side; }
  /// Null of what is not compared.
  [[nodiscard]] const analysis::ComparedPair* pair(std::size_t line) const { return lines_[line].pair; }
  /// The point of the baseline, or of the other side, in a line.
  [[nodiscard]] std::optional<ShownPoint> point(std::size_t line, bool of_other) const;
  /// The first line that has this point.
  [[nodiscard]] std::optional<std::size_t> line_of(Row point) const;
  /// What all lines were set to, which has no column: "d 128 · full · bf16".
  [[nodiscard]] const QString& common() const { return common_; }

 private:
  [[nodiscard]] bool varies(const Field& setting) const;
  /// Whether it is in the names of the sides.
  [[nodiscard]] bool makes_sides(const Field& setting) const;
  void find_settings();
  void make_table();

  std::shared_ptr<const ComparisonSet> set_;
  std::optional<std::size_t> side_;
  analysis::ComparisonView view_;  ///< of the sides that are shown
  std::vector<analysis::ComparisonLine> lines_;
  std::vector<Row> rows_;               ///< by line: a point of the problem that it is of
  std::vector<std::uint32_t> line_of_;  ///< by row of the points, from 1; 0: in none
  std::vector<const Field*> varying_;   ///< settings that set lines apart
  QString common_;
  analysis::Table table_;
};

/// Of a ratio: derived, or that of a part that is not measured.
[[nodiscard]] Provenance provenance_of(const analysis::PointTable& table, const analysis::ComparedPair& pair);

enum class CompareAs { table, plot };

/// All that is chosen.
struct ComparedAsk {
  ComparisonAsk sides;
  std::shared_ptr<const ComparisonSet> known;    ///< these sides, compared; null: that is to be done
  std::shared_ptr<const ShownComparison> table;  ///< that is shown; may be null
  QString other;                                 ///< the one other side that is shown; empty: all
  QString sorted_by;
  Qt::SortOrder order = Qt::AscendingOrder;
};

struct ComparedView {
  ComparedAsk asked;
  std::shared_ptr<const ComparisonSet> set;
  std::shared_ptr<const ShownComparison> table = {};
  std::vector<Row> rows = {};  ///< of the table, in their order
  std::vector<std::vector<TextSample>> longest = {};
  bool partners = false;
  std::set<SimulatedPart> simulated = {};
  QString summary = {};  ///< evidence and differences, a line each
};
[[nodiscard]] ComparedView view_of(const ComparedAsk& asked, const Outdated& outdated);

}  // namespace attnscope::ui
