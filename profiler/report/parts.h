// SPDX-License-Identifier: Apache-2.0
// The parts of a report, each a function of the points. Internal to profiler/report.
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
struct Compared {
  analysis::ComparisonView view;   ///< of that candidate alone
  std::vector<std::size_t> order;  ///< of the pairs: SLOWER, FASTER, UNDECIDED, SAME, the largest change first

  [[nodiscard]] const analysis::ComparedSide& side() const { return *view.sides.front(); }
};
[[nodiscard]] std::vector<Compared> compare_with_baseline(const Input&, const Request&);

/// Input of all parts; plots are listed once.
struct Context {
  const Input& input;
  std::vector<analysis::Plot> plots;
  std::vector<Compared> compared;  ///< empty without a baseline

  [[nodiscard]] const analysis::PointTable& table() const { return input.table; }
  /// The one with the most points; null without any.
  [[nodiscard]] const analysis::Plot* plot(analysis::PlotKind) const;
  /// "3 more problems ...": those that are not drawn; empty without any.
  [[nodiscard]] std::string others_text(analysis::PlotKind) const;
};

/// Ratios, bounds and failures, in sentences that lead to their points.
void tell_points(const Context&, std::vector<Block>&);
/// Ratios to the baseline by N, one figure per candidate.
void add_ratios(const Context&, std::vector<Figure>&);
/// Bytes and times by N.
void add_curves(const Context&, std::vector<Figure>&);
void add_tile_map(const Context&, std::vector<Figure>&);
void add_roofline(const Context&, std::vector<Figure>&);
/// Every row: verdicts, what is not compared, points, runs.
std::vector<Table> appendix(const Context&);

/// Answer and worst rows of each comparison.
void tell_verdicts(const Context&, std::vector<Block>&);
/// Method of each comparison, and what else differs between its sides.
void tell_method(const Context&, std::vector<Block>&);
void add_verdict_tables(const Context&, std::vector<Table>&);
/// "Nothing is compared ...": of a side that shares no point with the baseline.
[[nodiscard]] Message no_partners(const Compared&);
/// How far simulated values are off, by what is published of their GPU.
void tell_errors(const Context&, std::vector<Block>&);

/// The roofs of a run's device: what was measured of it, else of another of its name, else what is known of it.
struct KnownRoofs {
  analysis::KnownCeilings ceilings;
  std::string measured_at;  ///< empty: never
};
/// A plot of times on one device, under its roofs; nothing of an import from a GPU that nobody knows.
struct DeviceRoofs {
  analysis::RunIndex run = 0;
  KnownRoofs known;
  analysis::RooflineReport report;
  std::string sources;  ///< "measured on this GPU, 2026-11-21T04:12:00Z; by the datasheet"
};
[[nodiscard]] std::vector<DeviceRoofs> roofs_of(const Context&, const analysis::Plot&);
/// "measured on this GPU, 2026-11-21T04:12:00Z".
[[nodiscard]] std::string source_text(const KnownRoofs&, const analysis::Roof&, const std::string& device);

/// The curves of a plot, with everything that is drawn of them.
[[nodiscard]] analysis::CurveSet curves_of(const Context&, const analysis::Plot&);
/// "FA2 · H200": algorithm, label and what else tells a series apart.
[[nodiscard]] std::string series_text(const Context&, const analysis::SeriesName&);
[[nodiscard]] Paragraph plain(const Message&);
/// Paragraph that titles the following ones.
[[nodiscard]] Paragraph heading(const Message&);
/// "a, b".
[[nodiscard]] std::string joined(const std::set<std::string>&);
/// "measured": the word for people.
[[nodiscard]] std::string origin_text(Provenance);
/// Of what follows the clocks: "measured at throttled clocks".
[[nodiscard]] std::string origin_text(Provenance, bool throttled);

}  // namespace attnscope::report
