// SPDX-License-Identifier: Apache-2.0
// The sections of a report, each a function of what was read. Internal to profiler/report.
#pragma once

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

/// A candidate against the baseline. What was measured, simulated and imported are candidates of their own.
struct Compared {
  analysis::ComparisonView view;   ///< of that candidate alone
  std::vector<std::size_t> order;  ///< of the pairs: SLOWER, FASTER, UNDECIDED, SAME, the largest change first
  std::size_t first_place = 1;

  [[nodiscard]] const analysis::ComparedSide& side() const { return *view.sides.front(); }
  /// The nth pair of the order.
  [[nodiscard]] const analysis::ComparedPair& pair(std::size_t nth) const { return side().result.pairs[order[nth]]; }
  /// Its name in the document: "v12".
  [[nodiscard]] std::string place_of(std::size_t nth) const;
};
[[nodiscard]] std::vector<Compared> compare_with_baseline(const Input&, const Request&);

/// What sections are made of; plots are listed once.
struct Context {
  const Input& input;
  const Request& request;
  std::vector<analysis::Plot> plots;
  std::vector<Compared> compared;  ///< empty without a baseline

  [[nodiscard]] const analysis::PointTable& table() const { return input.table; }
  /// Of one kind, those of most points first, as many as are drawn; `left` is how many are not.
  [[nodiscard]] std::vector<const analysis::Plot*> drawn(analysis::PlotKind, std::size_t& left) const;
  [[nodiscard]] std::vector<const analysis::Plot*> drawn(analysis::PlotKind kind) const;
};

/// Nothing where there is nothing to say.
using MakeSection = std::vector<Block> (*)(const Context&);

std::vector<Block> summary_section(const Context&);
std::vector<Block> environment_section(const Context&);
std::vector<Block> comparison_section(const Context&);
std::vector<Block> io_section(const Context&);
std::vector<Block> exponents_section(const Context&);
std::vector<Block> time_section(const Context&);
std::vector<Block> tiles_section(const Context&);
std::vector<Block> roofline_section(const Context&);
std::vector<Block> units_section(const Context&);
std::vector<Block> kernels_section(const Context&);
std::vector<Block> sharing_section(const Context&);
std::vector<Block> paper_section(const Context&);
std::vector<Block> failures_section(const Context&);
std::vector<Block> commands_section(const Context&);
std::vector<Block> appendix_section(const Context&);

/// The verdicts that are significant, for the summary.
void tell_verdicts(const Context&, std::vector<Block>&);
/// "Nothing is compared ...": of a side that shares no point with the baseline.
[[nodiscard]] Message no_partners(const Compared&);
/// How far simulated values are off, and what was imported beside what was counted: tables of the environment.
void add_trust(const Context&, std::vector<Block>&);
/// What was measured of the devices; a table each.
void add_ceilings(const Context&, std::vector<Block>&);

/// The roofs of a run's device: what was measured of it, else of another of its name, else what is known of it.
struct KnownRoofs {
  analysis::KnownCeilings ceilings;
  std::string measured_at;  ///< empty: never
};
[[nodiscard]] KnownRoofs roofs_known(const Context&, analysis::RunIndex);
/// Whether anything is known of what bounds it: an import may be of a GPU that nobody knows.
[[nodiscard]] bool has_roofs(const Context&, analysis::Row);
/// "measured on this GPU, 2026-11-21T04:12:00Z".
[[nodiscard]] std::string source_text(const KnownRoofs&, const analysis::Roof&, const std::string& device);
/// Of all of them, in their order, each once.
[[nodiscard]] std::string sources_text(const KnownRoofs&, const std::vector<analysis::Roof>&,
                                       const std::string& device);

/// The curves of a plot, with everything that is drawn of them.
[[nodiscard]] analysis::CurveSet curves_of(const Context&, const analysis::Plot&);
/// "FA2 · H200": algorithm, label and what else tells a series apart.
[[nodiscard]] std::string series_text(const Context&, const analysis::SeriesName&);
/// Words for the title of a problem, as the filter has them.
[[nodiscard]] std::string problem_text(const analysis::Plot&);
[[nodiscard]] Paragraph plain(const Message&);
/// Of a group of paragraphs within a section.
[[nodiscard]] Paragraph heading(const Message&);
/// What a picture's lines are, of those kinds alone that it has.
[[nodiscard]] std::string key_of(const LineChart&);
/// "and 12 more problems ...", where some are not drawn.
void say_left_out(std::vector<Block>&, std::size_t left);
/// "a, b".
[[nodiscard]] std::string joined(const std::set<std::string>&);
/// "measured": the word for people.
[[nodiscard]] std::string origin_text(Provenance);
/// Of what follows the clocks: "measured at throttled clocks".
[[nodiscard]] std::string origin_text(Provenance, bool throttled);

}  // namespace attnscope::report
