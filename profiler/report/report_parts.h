// SPDX-License-Identifier: Apache-2.0
// Parts of a report, each computed from the points. Internal to profiler/report.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/compare/comparison_view.h"
#include "profiler/curves/curves.h"
#include "profiler/report/report.h"
#include "profiler/roofline/roofline.h"
#include "profiler/tilemap/plot_list.h"

namespace attnscope::report {

/// A candidate against the baseline. Measured, simulated and imported points are separate candidates.
struct CandidateComparison {
  analysis::ComparisonView view;   ///< only this candidate
  std::vector<std::size_t> order;  ///< pairs sorted by verdict (SLOWER, FASTER, UNDECIDED, SAME), largest change first

  [[nodiscard]] const analysis::ComparedSide& side() const { return *view.sides.front(); }
};
[[nodiscard]] std::vector<CandidateComparison> compare_with_baseline(const Input&, const Request&);

/// Input of all parts, with the list of plots.
struct Context {
  const Input& input;
  std::vector<analysis::Plot> plots;
  std::vector<CandidateComparison> compared;  ///< empty without a baseline
  std::set<analysis::RunIndex> baseline;

  [[nodiscard]] const analysis::PointTable& table() const { return input.table; }
  [[nodiscard]] const analysis::Plot* plot(analysis::PlotKind) const;
  [[nodiscard]] bool is_baseline(analysis::Row row) const { return baseline.contains(table().run_index(row)); }
  /// Returns a note on problems that are not drawn: "3 more problems ..."; empty if none.
  [[nodiscard]] std::string unplotted_note(analysis::PlotKind) const;
};

void add_findings(const Context&, std::vector<Block>&);
/// Adds a figure of ratios to the baseline over N for each candidate.
void add_ratios(const Context&, std::vector<Figure>&);
void add_curves(const Context&, std::vector<Figure>&);
void add_tile_map(const Context&, std::vector<Figure>&);
void add_roofline(const Context&, std::vector<Figure>&);
/// Limits the lines and marks of a line chart. The caption names the reduction.
void limit_marks(Figure&);
std::vector<Table> appendix(const Context&);

void add_verdicts(const Context&, std::vector<Block>&);
void add_method(const Context&, std::vector<Block>&);
void add_verdict_tables(const Context&, std::vector<Table>&);
/// Returns the titles of the rows' runs: "1 (quick), 2 (paper)".
[[nodiscard]] std::string run_names(const analysis::PointTable&, const std::vector<analysis::Row>& rows);
/// Returns "Nothing is compared ..." for a candidate without common points.
[[nodiscard]] Message no_partners(const CandidateComparison&);
void add_simulator_errors(const Context&, std::vector<Block>&);

/// Ceilings of a run's device: measured on it, or on another of the same name, or from the datasheet.
struct DeviceCeilings {
  analysis::KnownCeilings ceilings;
  std::string measured_at;  ///< empty if not measured
};
/// Points of one device with its roofline. Imports from an unknown GPU have none.
struct DeviceRoofline {
  analysis::RunIndex run = 0;
  DeviceCeilings known;
  analysis::RooflineReport report;
  std::string sources;  ///< "measured on this GPU, 2026-11-21T04:12:00Z; by the datasheet"
};
[[nodiscard]] std::vector<DeviceRoofline> make_rooflines(const Context&, const analysis::Plot&);
/// Returns the source of a roof: "measured on this GPU, 2026-11-21T04:12:00Z".
[[nodiscard]] std::string source_text(const DeviceCeilings&, const analysis::Roof&, const std::string& device);

/// Rows of a problem from which times, bytes and bottlenecks are taken: those of its time curves, one per series and N.
/// Rows without a time are added where their run has no time at that N.
[[nodiscard]] std::vector<analysis::Row> shown_rows(const Context&, const analysis::Plot&);
[[nodiscard]] analysis::CurveSet curves_of(const Context&, const analysis::Plot&);
/// Returns algorithm, label and other distinguishing parts: "FA2 · H200".
[[nodiscard]] std::string series_text(const Context&, const analysis::SeriesName&);
[[nodiscard]] Paragraph plain_paragraph(const Message&);
/// Returns a paragraph that heads the following ones.
[[nodiscard]] Paragraph heading_paragraph(const Message&);
[[nodiscard]] std::string join_texts(const std::set<std::string>&);
[[nodiscard]] std::string origin_text(Provenance);
/// Same, with a note for clock-dependent values: "measured at throttled clocks".
[[nodiscard]] std::string origin_text(Provenance, bool throttled);

}  // namespace attnscope::report
