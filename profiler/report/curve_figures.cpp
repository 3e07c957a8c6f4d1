// SPDX-License-Identifier: Apache-2.0
// Figures of bytes and times over N.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "messages/curve_plot.h"
#include "messages/report.h"
#include "profiler/curves/curve_labels.h"
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

/// Lines of one GPU.
struct CurvePanel {
  std::string device;
  LineChart chart = {};
  std::vector<const Curve*> curves = {};                       // curve of each line
  std::map<std::string, std::vector<std::string>> sides = {};  // key: algorithm; labels and runs
};

/// Returns whether both panels have the same lines, with values that differ by at most 1%.
bool coincide(const LineChart& one, const LineChart& other) {
  constexpr double most = 0.01;
  const auto alike = [](const Mark& a, const Mark& b) { return a.x == b.x && std::abs(a.y / b.y - 1) <= most; };
  return std::ranges::equal(one.lines, other.lines, [&](const Line& a, const Line& b) {
    return a.label == b.label && a.provenance == b.provenance && std::ranges::equal(a.marks, b.marks, alike);
  });
}

/// Returns the curves, one panel per GPU; panels that coincide become one. `set` outlives them.
std::vector<CurvePanel> curve_panels(const Context& context, const CurveSet& set, bool bytes) {
  const analysis::Quantity quantity = bytes ? analysis::Quantity::dram : analysis::Quantity::time;
  std::vector<CurvePanel> panels;
  bool has_values = false;
  const auto panel_of = [&](const std::string& device) -> CurvePanel& {
    const auto found = std::ranges::find(panels, device, &CurvePanel::device);
    if (found != panels.end()) return *found;
    panels.push_back({.device = device});
    LineChart& chart = panels.back().chart;
    chart.has_legend = true;
    chart.x = {set.queries ? text(msg::report::axis_keys{.n_q = *set.queries}) : text(msg::report::axis_length{}),
               Quantity::length, true};
    chart.y = {bytes ? text(msg::report::axis_bytes{}) : text(msg::report::axis_time{}),
               bytes ? Quantity::bytes : Quantity::nanoseconds, true};
    return panels.back();
  };
  const auto add_line = [&](CurvePanel& panel, const Curve& curve, Line line) {
    line.provenance = curve.provenance;
    for (const CurvePoint& point : curve.points) {
      const std::string place = analysis::position_text(set, point.n);
      line.marks.push_back(
          {point.n, point.value, point.low, point.high, read_out(line.label, place, point, bytes ? "byte" : "ns")});
    }
    panel.chart.lines.push_back(std::move(line));
    panel.curves.push_back(&curve);
  };
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured || curve.quantity != quantity) continue;
    has_values = has_values || !curve.points.empty();
    CurvePanel& panel = panel_of(curve.name.device);
    const std::string side = fmt::format("{}\n{}", curve.name.label, curve.name.age);
    std::vector<std::string>& known = panel.sides[curve.name.algorithm];
    if (std::ranges::find(known, side) == known.end()) known.push_back(side);
    add_line(panel, curve,
             {.label = series_without_device(context, curve.name),
              .identity = style::identity_of(curve.name.algorithm),
              .dashed = known.front() != side});
  }
  if (!has_values) return {};
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::compulsory || !bytes) continue;
    for (CurvePanel& panel : panels) add_line(panel, curve, {.label = text(msg::report::curve_minimum{})});
  }
  const auto is_candidate = [&](const CurvePanel& panel) {
    return std::ranges::none_of(context.baseline, [&](analysis::RunIndex run) {
      return analysis::device_title(context.table(), run) == panel.device;
    });
  };
  std::ranges::stable_sort(panels, {}, is_candidate);
  const bool equal = panels.size() > 1 && std::ranges::all_of(panels, [&](const CurvePanel& panel) {
                       return coincide(panel.chart, panels.front().chart);
                     });
  if (!equal) return panels;
  for (std::size_t i = 1; i < panels.size(); ++i) panels.front().device += " = " + panels[i].device;
  panels.resize(1);
  return panels;
}

/// Returns the longest N at which all lines of algorithms have a point, or else any.
double legend_position(const std::vector<CurvePanel>& panels) {
  std::set<double> all;
  std::vector<const Curve*> curves;
  for (const CurvePanel& panel : panels) {
    for (const Curve* curve : panel.curves) {
      if (curve->kind == CurveKind::measured) curves.push_back(curve);
    }
  }
  for (const Curve* curve : curves) {
    for (const CurvePoint& point : curve->points) all.insert(point.n);
  }
  const auto is_common = [&](double n) {
    return std::ranges::all_of(curves, [n](const Curve* curve) { return analysis::point_at(*curve, n) != nullptr; });
  };
  const auto last = std::find_if(all.rbegin(), all.rend(), is_common);
  return last == all.rend() ? *all.rbegin() : *last;
}

/// Returns the values of each line at one N: of all panels, then the ratio to the model and the slope of the first.
Legend legend_of(const CurveSet& set, const std::vector<CurvePanel>& panels, const std::vector<std::string>& titles,
                 const std::string& name, bool bytes) {
  const double n = legend_position(panels);
  Legend legend{.corner = fmt::format("{} {}", set.queries ? "n_k" : "N", length_text(n)), .columns = titles};
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
std::optional<LineChart> panel_ratios(const CurveSet& set, const std::vector<CurvePanel>& panels,
                                      const std::string& sides) {
  const CurvePanel& base = panels.front();
  LineChart chart{.x = base.chart.x,
                  .y = {text(msg::report::axis_panel_ratio{}), Quantity::number, false, false},
                  .band = analysis::ratio_margin,
                  .has_legend = true};
  for (std::size_t i = 1; i < panels.size(); ++i) {
    for (const Line& line : panels[i].chart.lines) {
      const auto of_base = std::ranges::find(base.chart.lines, line.label, &Line::label);
      if (!line.identity || of_base == base.chart.lines.end()) continue;
      Line ratio = line;
      ratio.marks.clear();
      for (const Mark& mark : line.marks) {
        const auto other = std::ranges::find(of_base->marks, mark.x, &Mark::x);
        if (other == of_base->marks.end()) continue;
        const double value = mark.y / other->y;
        ratio.marks.push_back(
            {.x = mark.x,
             .y = value,
             .read_out_text = text(msg::report::panel_ratio{.place = analysis::position_text(set, mark.x),
                                                            .ratio = fmt::format("{:.3f}", value),
                                                            .series = line.label,
                                                            .sides = sides})});
      }
      if (!ratio.marks.empty()) chart.lines.push_back(std::move(ratio));
    }
  }
  if (chart.lines.empty()) return std::nullopt;
  return chart;
}

std::optional<Section> curve_section(const Context& context, PlotKind kind, const std::string& id) {
  constexpr std::size_t max_panels = 3;
  const Plot* plot = context.plot(kind);
  if (plot == nullptr) return std::nullopt;
  const bool bytes = kind == PlotKind::bytes;
  const CurveSet set = curves_of(context, *plot, bytes);
  std::vector<CurvePanel> panels = curve_panels(context, set, bytes);
  if (panels.empty()) return std::nullopt;
  const std::size_t devices = panels.size();
  panels.resize(std::min(devices, max_panels));
  const std::string name = bytes ? text(msg::report::dram_bytes{}) : text(msg::report::median_time{});
  const std::string problem = problem_text(context, plot->filter.rows());
  Figure figure{.id = id, .title = fmt::format("{} · {}", name, problem), .caption = key_of(panels.front().chart)};
  if (panels.size() == 1 && !panels.front().device.empty()) figure.title += " · " + panels.front().device;
  const auto is_unknown = [&](analysis::Row row) { return context.table().spec(row).cache == CacheState::unknown; };
  if (bytes && std::ranges::any_of(plot->filter.rows(), is_unknown))
    figure.caption += " " + text(msg::report::warm_below_compulsory{});
  figure.caption += context.unplotted_note(kind);
  if (devices > panels.size())
    figure.caption += " " + text(msg::report::panels_limited{.all = devices, .shown = panels.size()});
  CurveSet titles;
  for (const CurvePanel& panel : panels) titles.panels.push_back(panel.device);
  const std::vector<std::string> short_titles = analysis::short_panel_titles(titles);
  figure.legend = legend_of(set, panels, short_titles, name, bytes);
  if (panels.size() > 1) {
    const std::string percent = fmt::format("{:g}", 100 * analysis::ratio_margin);
    const std::string sides =
        panels.size() == 2 ? fmt::format("{} / {}", short_titles[1], short_titles[0]) : "÷ " + short_titles[0];
    figure.ratios = panel_ratios(set, panels, sides);
    const auto first = figure.legend.columns.begin() + static_cast<std::ptrdiff_t>(panels.size());
    if (figure.ratios) {
      figure.caption += " " + text(msg::report::panel_ratio_key{
                                  .columns = fmt::format("{}", fmt::join(first, figure.legend.columns.end(), ", ")),
                                  .device = short_titles.front(),
                                  .percent = percent,
                                  .sides = sides});
    }
  }
  std::vector<LineChart> charts;
  std::vector<std::string> names;
  for (CurvePanel& panel : panels) {
    charts.push_back(std::move(panel.chart));
    names.push_back(panel.device);
  }
  add_panels(figure, std::move(charts), names, [&](const LineChart& chart) {
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
  std::optional<Section> section = curve_section(context, PlotKind::time, "time");
  if (section && !context.has_pairs()) section->text = device_sentences(context, *context.plot(PlotKind::time));
  return section;
}

}  // namespace attnscope::report
