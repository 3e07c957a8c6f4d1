// SPDX-License-Identifier: Apache-2.0
// The sections of a report, each a function of what was read. Internal to profiler/report.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/curves.h"
#include "profiler/analysis/plot_list.h"
#include "profiler/report/report.h"

namespace attnscope::report {

/// What sections are made of; plots are listed once.
struct Context {
  const Input& input;
  const Request& request;
  std::vector<analysis::Plot> plots;

  [[nodiscard]] const analysis::PointTable& table() const { return input.table; }
  /// Of one kind, those of most points first, as many as are drawn; `left` is how many are not.
  [[nodiscard]] std::vector<const analysis::Plot*> drawn(analysis::PlotKind, std::size_t& left) const;
  [[nodiscard]] std::vector<const analysis::Plot*> drawn(analysis::PlotKind kind) const;
};

/// Nothing where there is nothing to say.
using MakeSection = std::vector<Block> (*)(const Context&);

std::vector<Block> summary_section(const Context&);
std::vector<Block> environment_section(const Context&);
std::vector<Block> io_section(const Context&);
std::vector<Block> exponents_section(const Context&);
std::vector<Block> time_section(const Context&);
std::vector<Block> tiles_section(const Context&);
std::vector<Block> roofline_section(const Context&);
std::vector<Block> kernels_section(const Context&);
std::vector<Block> failures_section(const Context&);
std::vector<Block> commands_section(const Context&);
std::vector<Block> appendix_section(const Context&);

/// The curves of a plot, with everything that is drawn of them.
[[nodiscard]] analysis::CurveSet curves_of(const Context&, const analysis::Plot&);
/// "FA2 · H200": algorithm, label and what else tells a series apart.
[[nodiscard]] std::string series_text(const Context&, const analysis::SeriesName&);
/// Words for the title of a problem, as the filter has them.
[[nodiscard]] std::string problem_text(const analysis::Plot&);
[[nodiscard]] Paragraph plain(const Message&);
/// "and 12 more problems ...", where some are not drawn.
void say_left_out(std::vector<Block>&, std::size_t left);
/// "a, b".
[[nodiscard]] std::string joined(const std::set<std::string>&);
/// "measured": the word for people.
[[nodiscard]] std::string origin_text(Provenance);

}  // namespace attnscope::report
