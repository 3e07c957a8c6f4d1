// SPDX-License-Identifier: Apache-2.0
// Parts of a report, each computed from the points. Internal to profiler/report.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/compare/comparison_view.h"
#include "profiler/curves/curves.h"
#include "profiler/report/report.h"
#include "profiler/roofline/roofline.h"
#include "profiler/tilemap/plot_list.h"

namespace attnscope::report {

/// Comparison of the candidates with the baseline. Measured, simulated and imported points are separate candidates.
struct BaselineComparison {
  analysis::ComparisonView view;                     ///< all candidates with a compared pair
  std::vector<analysis::ComparisonView> candidates;  ///< one view each
  std::vector<Message> missing;                      ///< candidates without a compared pair, each in one sentence
};

/// Input of all parts, with the list of plots.
struct Context {
  const Input& input;
  std::vector<analysis::Plot> plots;
  std::optional<BaselineComparison> compared;  ///< none without a baseline
  std::set<analysis::RunIndex> baseline;

  [[nodiscard]] const analysis::PointTable& table() const { return input.table; }
  [[nodiscard]] const analysis::Plot* plot(analysis::PlotKind) const;
  [[nodiscard]] bool is_baseline(analysis::Row row) const { return baseline.contains(table().run_index(row)); }
  [[nodiscard]] bool has_pairs() const { return compared && !compared->candidates.empty(); }
  /// Returns a note on problems that are not drawn: "3 more problems ..."; empty if none.
  [[nodiscard]] std::string unplotted_note(analysis::PlotKind) const;
};
/// Returns what the points of a plot share: "fwd, d 64, full, fp16, 1 × 64 heads".
[[nodiscard]] std::string problem_text(const Context&, std::span<const analysis::Row>);

// First page.

[[nodiscard]] std::optional<BaselineComparison> compare_with_baseline(const Input&, const Request&);
/// Adds title, answer, ratios of all rows, and the worst rows.
void add_comparison(const Context&, Document&);
/// Adds the answer and a table of at most eight points for a report without a compared row.
void add_overview(const Context&, Document&);
/// Returns two lines: machine, build and dates; clocks, samples and what is unusual.
[[nodiscard]] std::vector<std::string> measured_lines(const Context&);

// Sections; empty without points to draw.

[[nodiscard]] std::optional<Section> ratio_section(const Context&);
[[nodiscard]] std::optional<Section> bytes_section(const Context&);
[[nodiscard]] std::optional<Section> time_section(const Context&);
[[nodiscard]] std::optional<Section> tiles_section(const Context&);
[[nodiscard]] std::optional<Section> roofline_section(const Context&);
/// Counted bytes divided by those of the closed form.
[[nodiscard]] std::optional<Section> model_section(const Context&);

/// Sentences on points without a result.
[[nodiscard]] std::vector<Paragraph> failure_sentences(const Context&);
/// Sentences on the bottleneck of each series.
[[nodiscard]] std::vector<Paragraph> bound_sentences(const Context&, const analysis::Plot&);
/// Sentences on the published errors of simulated points.
[[nodiscard]] std::vector<Paragraph> simulator_error_sentences(const Context&);

[[nodiscard]] Paragraph plain_paragraph(const Message&);
/// Adds charts as panels with equal axes, less high if there are several. `names`: of the panels, drawn if there are
/// several.
void add_panels(Figure&, std::vector<LineChart>, const std::vector<std::string>& names,
                const std::function<std::string(const LineChart&)>& alt);
/// Limits lines and marks, so that a figure stays readable. The caption names the reduction.
void limit_marks(Figure&);
[[nodiscard]] std::vector<Table> appendix(const Context&);
/// Adds tables of verdicts, for display and for export.
void add_verdict_tables(const Context&, Document&);
/// Returns the method of the comparison, caveats and sources, one sentence each.
[[nodiscard]] std::vector<std::string> notes_of(const Context&);

/// Series at one N of one device, for sentences and tables.
struct ComparablePoint {
  analysis::SeriesName name;
  analysis::CurvePoint point;
};
/// Returns the points of one device at the longest N that at least two of its series cover, largest value first.
[[nodiscard]] std::vector<ComparablePoint> comparable_points(const Context&, const analysis::CurveSet&,
                                                             analysis::Quantity);

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
/// `residuals`: sets CurvePoint::over_modeled of bytes.
[[nodiscard]] analysis::CurveSet curves_of(const Context&, const analysis::Plot&, bool residuals = false);
/// Returns algorithm, label and other distinguishing parts: "FA2 · H200".
[[nodiscard]] std::string series_text(const Context&, const analysis::SeriesName&);
/// Returns the series without its device.
[[nodiscard]] std::string series_without_device(const Context&, analysis::SeriesName);
/// Returns "FA2 (128x64)": the result may differ for other tiles.
[[nodiscard]] std::string with_tile(const Context&, const std::string& words, analysis::Row);
/// Returns the device's title, "simulated H100" for a simulation.
[[nodiscard]] std::string gpu_of(const Context&, analysis::RunIndex);
/// Returns the titles of the rows' runs: "1 (quick), 2 (paper)".
[[nodiscard]] std::string run_names(const analysis::PointTable&, const std::vector<analysis::Row>& rows);
[[nodiscard]] std::string join_texts(const std::set<std::string>&);
[[nodiscard]] std::string origin_text(Provenance);
/// Same, with a note for clock-dependent values: "measured at throttled clocks".
[[nodiscard]] std::string origin_text(Provenance, bool throttled);

}  // namespace attnscope::report
