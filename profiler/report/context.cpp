// SPDX-License-Identifier: Apache-2.0
// What sections have in common.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "kernels/model/device_limits.h"
#include "messages/report.h"
#include "profiler/report/sections.h"

namespace attnscope::report {

std::vector<const analysis::Plot*> Context::drawn(analysis::PlotKind kind, std::size_t& left) const {
  std::vector<const analysis::Plot*> of_kind;
  for (const analysis::Plot& plot : plots) {
    if (plot.kind == kind) of_kind.push_back(&plot);
  }
  std::ranges::stable_sort(of_kind, std::greater<>(),
                           [](const analysis::Plot* plot) { return plot->filter.rows().size(); });
  left = of_kind.size() > request.figures ? of_kind.size() - request.figures : 0;
  of_kind.resize(of_kind.size() - left);
  return of_kind;
}

std::vector<const analysis::Plot*> Context::drawn(analysis::PlotKind kind) const {
  std::size_t left = 0;
  return drawn(kind, left);
}

analysis::CurveSet curves_of(const Context& context, const analysis::Plot& plot) {
  analysis::CurveRequest request;
  for (const analysis::Row row : plot.filter.rows()) request.algorithms.insert(context.table().algorithm(row));
  request.ordinate = plot.ordinate();
  request.tile = plot.tile;
  return analysis::build_curves(context.table(), plot.filter.rows(), request);
}

std::string series_text(const Context& context, const analysis::SeriesName& name) {
  std::string words =
      name.algorithm.empty() ? std::string() : analysis::short_title(context.table().algorithms(), name.algorithm);
  for (const std::string* more : {&name.label, &name.device, &name.runs}) {
    if (!more->empty()) words += fmt::format("{}{}", words.empty() ? "" : " · ", *more);
  }
  // A run that is named needs no age.
  if (name.age > 0 && name.runs.empty()) words += " · " + text(say::report::older{});
  return words;
}

std::string problem_text(const analysis::Plot& plot) {
  return plot.filter.summary();
}

bool has_roofs(const Context& context, analysis::Row row) {
  const analysis::Run& run = context.table().run(row);
  return run.provenance != Provenance::imported || find_gpu(run.device_name) != nullptr ||
         !roofs_known(context, context.table().run_index(row)).measured_at.empty();
}

Paragraph plain(const Message& message) {
  return {{{text(message)}}};
}

Paragraph heading(const Message& message) {
  return {.words = {{text(message)}}, .heading = true};
}

std::string key_of(const LineChart& chart) {
  std::set<Provenance> kinds;
  bool spread = false;
  for (const Line& line : chart.lines) {
    if (!line.marks.empty()) kinds.insert(line.provenance);
    spread = spread || std::ranges::any_of(line.marks, [](const Mark& mark) { return mark.high > mark.low; });
  }
  std::string key;
  const auto add = [&](bool there, const Message& words) {
    if (there) key += fmt::format("{}{}", key.empty() ? "" : " ", text(words));
  };
  add(kinds.contains(Provenance::measured) || kinds.contains(Provenance::derived), say::report::key{});
  add(kinds.contains(Provenance::modelled), say::report::key_modelled{});
  add(kinds.contains(Provenance::simulated) || kinds.contains(Provenance::extrapolated), say::report::key_simulated{});
  add(kinds.contains(Provenance::imported), say::report::key_imported{});
  add(spread, say::report::key_spread{});
  return key;
}

void say_left_out(std::vector<Block>& blocks, std::size_t left) {
  if (left == 1) blocks.emplace_back(plain(say::report::one_left_out{}));
  if (left > 1) blocks.emplace_back(plain(say::report::left_out{.problems = left}));
}

std::string joined(const std::set<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word);
  return all;
}

std::string origin_text(Provenance provenance) {
  return text(title(provenance));
}

std::string origin_text(Provenance provenance, bool throttled) {
  const std::string origin = origin_text(provenance);
  return throttled ? text(say::report::origin_throttled{.origin = origin}) : origin;
}

}  // namespace attnscope::report
