// SPDX-License-Identifier: Apache-2.0
// Figures of bytes and times over N.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "messages/curve_plot.h"
#include "messages/report.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::CurveSet;
using analysis::Plot;
using analysis::PlotKind;

/// Returns the read-out of a point: "FA2, N 4096: 123456789 byte (123 MB), measured, quartiles 120 to 125". The first
/// value is as exported.
std::string read_out(const std::string& series, const std::string& place, const CurvePoint& point,
                     std::string_view unit) {
  const std::string value = fmt::format("{} {} ({})", exact_text(point.value), unit, value_text(point.value, unit));
  std::string words = text(
      msg::report::read_out{.origin = origin_text(point.provenance), .place = place, .series = series, .value = value});
  if (point.high > point.low) {
    words +=
        text(msg::report::read_out_spread{.high = value_text(point.high, unit), .low = value_text(point.low, unit)});
  }
  if (point.throttled) words += text(msg::report::read_out_throttled{});
  return words;
}

/// Returns the legend of the line styles in a figure.
std::string key_of(const LineChart& chart) {
  std::set<Provenance> kinds;
  bool spread = false;
  for (const Line& line : chart.lines) {
    if (!line.marks.empty()) kinds.insert(line.provenance);
    spread = spread || std::ranges::any_of(line.marks, [](const Mark& mark) { return mark.high > mark.low; });
  }
  std::string key;
  const auto add = [&](bool there, const Message& words) {
    if (there) key += (key.empty() ? "" : " ") + text(words);
  };
  add(kinds.contains(Provenance::measured) || kinds.contains(Provenance::derived), msg::report::key{});
  add(kinds.contains(Provenance::modeled), msg::report::key_modeled{});
  add(kinds.contains(Provenance::simulated) || kinds.contains(Provenance::extrapolated), msg::report::key_simulated{});
  add(kinds.contains(Provenance::imported), msg::report::key_imported{});
  add(spread, msg::report::key_spread{});
  return key;
}

/// Lines of one panel of the curve set.
struct CurvePanel {
  LineChart chart;
  std::vector<const Curve*> curves = {};  // curve of each line
};

Line line_of(const Context& context, const Curve& curve) {
  if (curve.kind != CurveKind::measured)
    return {.label = text(msg::report::curve_minimum{}), .provenance = curve.provenance};
  return {.label = series_without_device(context, curve.name),
          .identity = style::identity_of(curve.name.algorithm),
          .dashed = curve.dashed,
          .provenance = curve.provenance};
}

/// Returns the lines of each panel of `set`, which outlives them; empty without measured values.
std::vector<CurvePanel> curve_panels(const Context& context, const CurveSet& set, bool bytes) {
  const Axis x{set.queries ? text(msg::report::axis_keys{.n_q = *set.queries}) : text(msg::report::axis_length{}),
               Quantity::length, true};
  const Axis y{bytes ? text(msg::report::axis_bytes{}) : text(msg::report::axis_time{}),
               bytes ? Quantity::bytes : Quantity::nanoseconds, true};
  std::vector<CurvePanel> panels(set.panels.size(), {.chart = {.x = x, .y = y, .has_legend = true}});
  for (const Curve& curve : set.curves) {
    if (curve.merged || curve.kind == CurveKind::model) continue;
    Line line = line_of(context, curve);
    for (const CurvePoint& point : curve.points) {
      const std::string place = analysis::position_text(set, point.n);
      line.marks.push_back(
          {point.n, point.value, point.low, point.high, read_out(line.label, place, point, bytes ? "byte" : "ns")});
    }
    for (const std::size_t panel : curve.panels) {
      panels[panel].chart.lines.push_back(line);
      panels[panel].curves.push_back(&curve);
    }
  }
  const auto has_values = [](const Curve& curve) { return curve.kind == CurveKind::measured && !curve.points.empty(); };
  return std::ranges::any_of(set.curves, has_values) ? panels : std::vector<CurvePanel>();
}

/// Returns the longest N at which all lines of algorithms have a point, or else any.
double legend_position(const CurveSet& set) {
  std::set<double> all;
  std::vector<const Curve*> curves;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured) continue;
    curves.push_back(&curve);
    for (const CurvePoint& point : curve.points) all.insert(point.n);
  }
  const auto is_common = [&](double n) {
    return std::ranges::all_of(curves, [n](const Curve* curve) { return analysis::point_at(*curve, n) != nullptr; });
  };
  const auto last = std::find_if(all.rbegin(), all.rend(), is_common);
  return last == all.rend() ? *all.rbegin() : *last;
}

/// Returns the values of each line at one N: of all panels, then the ratio to the model and the slope of the first.
Legend legend_of(const CurveSet& set, const std::vector<CurvePanel>& panels, const std::string& name, bool bytes) {
  const double n = legend_position(set);
  Legend legend{.corner = fmt::format("{} {}", set.queries ? "n_k" : "N", length_text(n)),
                .columns = analysis::short_panel_titles(set)};
  legend.columns.resize(panels.size());
  if (panels.size() == 1) legend.columns = {name};
  const auto find = [](const CurvePanel& panel, const std::string& label) -> const Curve* {
    const auto line = std::ranges::find(panel.chart.lines, label, &Line::label);
    return line == panel.chart.lines.end() ? nullptr
                                           : panel.curves[static_cast<std::size_t>(line - panel.chart.lines.begin())];
  };
  const auto has_model = [](const Curve* curve) {
    return std::ranges::any_of(curve->points, [](const CurvePoint& point) { return point.over_modeled.has_value(); });
  };
  const bool models = std::ranges::any_of(panels.front().curves, has_model);
  if (models) legend.columns.push_back(text(msg::curve_plot::vs_model{}));
  legend.columns.push_back(text(msg::curve_plot::slope{}));
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "–"; };
  for (const CurvePanel& panel : panels) {
    for (const Line& line : panel.chart.lines) {
      if (std::ranges::find(legend.rows, line.label, [](const LegendRow& row) { return row.look.label; }) !=
          legend.rows.end())
        continue;
      LegendRow& row = legend.rows.emplace_back(LegendRow{line, {}});
      row.look.marks.clear();
      for (const CurvePanel& each : panels) {
        const Curve* curve = find(each, line.label);
        const CurvePoint* point = curve == nullptr ? nullptr : analysis::point_at(*curve, n);
        row.cells.push_back(point == nullptr ? "–" : value_text(point->value, bytes ? "byte" : "ns"));
      }
      const Curve& curve = *find(panel, line.label);
      const CurvePoint* point = analysis::point_at(curve, n);
      row.cells.resize(legend.columns.size());
      if (!line.identity) continue;
      if (models) row.cells[panels.size()] = number(point == nullptr ? std::nullopt : point->over_modeled);
      row.cells.back() = number(analysis::slope_at(curve, n));
    }
  }
  return legend;
}

/// Returns the values of later panels divided by those of the first; nullopt if there are none.
std::optional<LineChart> panel_ratios(const Context& context, const CurveSet& set, const Axis& x) {
  LineChart chart{.x = x,
                  .y = {text(msg::report::axis_panel_ratio{}), Quantity::number, false, false},
                  .band = analysis::ratio_margin,
                  .has_legend = true};
  for (const analysis::RatioCurve& ratio : analysis::ratio_curves(set)) {
    Line line = line_of(context, set.curves[ratio.curve]);
    for (const auto& [n, value, row] : ratio.points) {
      const std::string words = text(msg::report::panel_ratio{.place = analysis::position_text(set, n),
                                                              .ratio = fmt::format("{:.3f}", value),
                                                              .series = line.label,
                                                              .sides = analysis::ratio_title(set)});
      line.marks.push_back({.x = n, .y = value, .read_out_text = words});
    }
    chart.lines.push_back(std::move(line));
  }
  return chart.lines.empty() ? std::nullopt : std::optional(std::move(chart));
}

std::optional<Section> curve_section(const Context& context, PlotKind kind, const std::string& id) {
  constexpr std::size_t max_panels = 3;
  const Plot* plot = context.plot(kind);
  if (plot == nullptr) return std::nullopt;
  const bool bytes = kind == PlotKind::bytes;
  CurveSet set = curves_of(context, *plot, bytes);
  analysis::arrange_curves(set, context.baseline, max_panels);
  std::vector<CurvePanel> panels = curve_panels(context, set, bytes);
  if (panels.empty()) return std::nullopt;
  const std::string name = bytes ? text(msg::report::dram_bytes{}) : text(msg::report::median_time{});
  const std::string problem = problem_text(context, plot->filter.rows());
  Figure figure{.id = id, .title = fmt::format("{} · {}", name, problem), .caption = key_of(panels.front().chart)};
  if (panels.size() == 1 && !set.panels.front().empty()) figure.title += " · " + set.panels.front();
  const auto is_unknown = [&](analysis::Row row) { return context.table().spec(row).cache == CacheState::unknown; };
  if (bytes && std::ranges::any_of(plot->filter.rows(), is_unknown))
    figure.caption += " " + text(msg::report::warm_below_compulsory{});
  figure.caption += context.unplotted_note(kind);
  if (set.undrawn_panels > 0) {
    const std::size_t all = panels.size() + set.undrawn_panels;
    figure.caption += " " + text(msg::report::panels_limited{.all = all, .shown = panels.size()});
  }
  figure.legend = legend_of(set, panels, name, bytes);
  if (panels.size() > 1) figure.ratios = panel_ratios(context, set, panels.front().chart.x);
  if (figure.ratios) {
    const auto first = figure.legend.columns.begin() + static_cast<std::ptrdiff_t>(panels.size());
    figure.caption += " " + text(msg::report::panel_ratio_key{
                                .columns = fmt::format("{}", fmt::join(first, figure.legend.columns.end(), ", ")),
                                .device = analysis::short_panel_titles(set).front(),
                                .percent = fmt::format("{:g}", 100 * analysis::ratio_margin),
                                .sides = analysis::ratio_title(set)});
  }
  std::vector<LineChart> charts;
  charts.reserve(panels.size());
  for (CurvePanel& panel : panels) charts.push_back(std::move(panel.chart));
  add_panels(figure, std::move(charts), set.panels, [&](const LineChart& chart) {
    std::vector<std::string> labels;
    for (const Line& line : chart.lines) labels.push_back(line.label);
    return text(msg::report::alt_curves{.lines = chart.lines.size(),
                                        .list = fmt::format("{}", fmt::join(labels, ", ")),
                                        .problem = problem,
                                        .what = name});
  });
  return Section{.title = name, .figure = std::move(figure)};
}

}  // namespace

std::optional<Section> bytes_section(const Context& context) {
  return curve_section(context, PlotKind::bytes, "io");
}

std::optional<Section> time_section(const Context& context) {
  return curve_section(context, PlotKind::time, "time");
}

}  // namespace attnscope::report
