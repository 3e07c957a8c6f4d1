// SPDX-License-Identifier: Apache-2.0
// Figures of bytes and times over N, of tile maps, and rooflines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "messages/curve_plot.h"
#include "messages/report.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/report/report_parts.h"
#include "profiler/roofline/roofline.h"
#include "profiler/tilemap/tile_map.h"
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

using analysis::TileCell;
using analysis::TileMap;

std::string tile_text(const TileMap& map, std::size_t row, std::size_t column) {
  return fmt::format("{}x{}", map.y.values[row].text, map.x.values[column].text);
}

std::string cell_read_out_text(const Context& context, const TileMap& map, const TileCell& cell,
                               const std::string& tile) {
  if (cell.value) {
    return text(msg::report::cell_read_out{.origin = origin_text(cell.provenance),
                                           .text = value_text(*cell.value, map.unit),
                                           .tile = tile,
                                           .value = fmt::format("{} {}", exact_text(*cell.value), map.unit)});
  }
  if (!cell.disposition) return {};
  const std::string reason = text(context.table().reason(cell.row));
  return text(msg::report::cell_without{.outcome = title(*cell.disposition), .reason = reason, .tile = tile});
}

std::string outcome_text(Disposition disposition) {
  return disposition == Disposition::infeasible ? "–" : disposition == Disposition::out_of_memory ? "OOM" : "×";
}

std::string map_legend(const HeatMap& map) {
  std::string key = map.slowdowns ? text(msg::report::map_bins{}) : text(msg::report::map_key{});
  bool struck = false;
  bool hollow = false;
  for (const std::vector<MapCell>& row : map.cells) {
    for (const MapCell& cell : row) {
      struck = struck || (!cell.value && !cell.read_out_text.empty());
      hollow = hollow || cell.hollow;
    }
  }
  if (struck) key += " " + text(msg::report::map_struck{});
  if (hollow) key += " " + text(msg::report::map_simulated{});
  if (map.low > 0 && map.high > map.low && map.high < 1.01 * map.low) {
    const std::string percent = text(Share(map.high / map.low - 1));
    key += " " + text(msg::report::map_uniform{.percent = percent});
  }
  return key;
}

struct LabeledMap {
  std::string label;  ///< side of a comparison; empty if there is none
  const Plot* plot;
  TileMap map;
  std::vector<analysis::Row> rows;
};

std::string metric_name(const TileMap& map) {
  const Metric* metric = find_metric(map.metric);
  return metric != nullptr ? text(metric->label()) : map.metric;
}

/// `low`, `shown`: lower end and unit of the color scale that all panels share.
HeatMap picture_of(const Context& context, const TileMap& map, double low, double high, const UnitScale& shown) {
  HeatMap picture;
  picture.less_is_better = map.better != BetterDirection::more;
  picture.slowdowns = map.metric == metric_key::time_median_ns;
  picture.low = low * shown.factor;
  picture.high = high * shown.factor;
  picture.unit_text = shown.suffix;
  picture.digits = distinguishing_digits(picture.low, picture.high);
  for (const analysis::FacetValue& value : map.x.values) picture.columns.push_back(value.text);
  for (const analysis::FacetValue& value : map.y.values) picture.rows.push_back(value.text);
  for (std::size_t row = 0; row < map.cells.size(); ++row) {
    picture.cells.emplace_back();
    for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
      const TileCell& cell = map.cells[row][column];
      MapCell drawn;
      drawn.value = cell.value ? std::optional(*cell.value * shown.factor) : std::nullopt;
      drawn.text = drawn.value        ? number_text(*drawn.value, picture.digits)
                   : cell.disposition ? outcome_text(*cell.disposition)
                                      : "";
      drawn.read_out_text = cell_read_out_text(context, map, cell, tile_text(map, row, column));
      drawn.hollow = is_simulated(cell.provenance);
      const TileMap::Place place{static_cast<int>(row), static_cast<int>(column)};
      drawn.best = std::ranges::count(map.best, place) > 0;
      picture.cells.back().push_back(std::move(drawn));
    }
  }
  return picture;
}

/// Returns "Best: 64x256, 349 µs; within its IQR: 3."
std::string best_text(const LabeledMap& labeled) {
  const TileMap& map = labeled.map;
  if (map.best.empty()) return {};
  const TileMap::Place best = map.best.front();
  const std::string tile = tile_text(map, static_cast<std::size_t>(best.row), static_cast<std::size_t>(best.column));
  const std::string words = text(msg::report::map_best{
      .others = map.best.size() - 1, .tile = tile, .value = value_text(*map.at(best).value, map.unit)});
  return labeled.label.empty() ? words : fmt::format("{}: {}", labeled.label, words);
}

/// Maps of both sides of a comparison, or one map. The devices of the sides may differ, the problem may not.
std::vector<LabeledMap> find_maps(const Context& context, const Plot& plot) {
  const analysis::PointTable& table = context.table();
  std::vector<LabeledMap> maps;
  const auto add = [&](std::string label, const Plot& of, std::vector<analysis::Row> rows) {
    TileMap map = analysis::build_tile_map(table, rows, of.metric);
    if (!map.empty()) maps.push_back({std::move(label), &of, std::move(map), std::move(rows)});
  };
  if (context.baseline.empty()) {
    add({}, plot, plot.filter.rows());
    return maps;
  }
  const auto problem_of = [&](const Plot& each) {
    PointSpec spec = table.spec(each.filter.rows().front());
    spec.tile = {};
    return each.metric + canonical_text(spec);
  };
  for (const bool of_baseline : {true, false}) {
    for (const Plot& each : context.plots) {
      if (each.kind != PlotKind::maps || problem_of(each) != problem_of(plot)) continue;
      std::vector<analysis::Row> rows;
      std::ranges::copy_if(each.filter.rows(), std::back_inserter(rows),
                           [&](analysis::Row row) { return context.is_baseline(row) == of_baseline; });
      if (rows.empty()) continue;
      const std::string runs = run_names(table, rows);
      add(of_baseline ? text(msg::report::baseline_map{.runs = runs}) : text(msg::report::candidate_map{.runs = runs}),
          each, std::move(rows));
    }
  }
  return maps;
}

/// Draws the DRAM bandwidth slope up to the highest compute ceiling, then the ceilings.
void add_roofs(LineChart& chart, const analysis::RooflineReport& report, const DeviceCeilings& known,
               const std::string& device, double least, double most) {
  double highest = 0;
  for (const analysis::Roof& roof : report.roofs) {
    if (!is_bandwidth_bound(roof.bound))
      highest = std::max(highest, ceiling_flops(roof, report.flops_per_exponential) * 1e-12);
  }
  for (const analysis::Roof& roof : report.roofs) {
    Line line{.label = std::string(analysis::to_string(roof.bound)), .provenance = Provenance::modeled};
    const bool slope = is_bandwidth_bound(roof.bound);
    if (slope && roof.bound != analysis::Bound::dram) continue;
    const std::string source = source_text(known, roof, device);
    const double rate = (slope ? roof.rate : ceiling_flops(roof, report.flops_per_exponential)) * 1e-12;
    const std::string words =
        slope ? text(msg::report::roof_read_out{
                    .rate = text(BytesPerSecond(roof.rate)), .source = source, .unit = line.label})
              : text(msg::report::peak_read_out{.rate = number_text(rate), .source = source, .unit = line.label});
    const double end = slope && highest > 0 ? std::min(most, highest / rate) : most;
    for (const double x : {least, end}) line.marks.push_back({x, slope ? x * rate : rate, 0, 0, words});
    chart.lines.push_back(std::move(line));
  }
}

void add_point(Line& line, const analysis::RooflinePoint& point, double intensity) {
  const double rate = point.flops_per_second() * 1e-12;
  const std::string n = exact_text(static_cast<double>(point.n));
  const std::string origin = origin_text(point.provenance, point.throttled);
  const Message words =
      point.shares.empty()
          ? Message(msg::report::unbounded_read_out{.intensity = number_text(intensity),
                                                    .n = n,
                                                    .origin = origin,
                                                    .rate = number_text(rate),
                                                    .series = line.label})
          : Message(msg::report::point_read_out{.bound = analysis::to_string(point.shares.front().bound),
                                                .intensity = number_text(intensity),
                                                .n = n,
                                                .origin = origin,
                                                .rate = number_text(rate),
                                                .reached = text(Share(point.roof_share())),
                                                .series = line.label});
  line.marks.push_back({intensity, rate, 0, 0, text(words)});
}

/// Returns the roofline of one device; nullopt if no point has a time and DRAM bytes.
std::optional<LineChart> roofline_chart(const Context& context, const DeviceRoofline& roofs) {
  const analysis::RooflineReport& report = roofs.report;
  const std::string& name = context.table().runs()[roofs.run].device_name;
  LineChart chart;
  chart.x = {text(msg::report::axis_intensity{}), Quantity::number, true};
  chart.y = {text(msg::report::axis_rate{}), Quantity::number, true};
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  std::set<analysis::RunIndex> runs;
  for (const analysis::RooflineSeries& series : report.series) runs.insert(series.run);
  for (const analysis::RooflineSeries& series : report.series) {
    std::string words = analysis::short_title(context.table().algorithms(), series.algorithm);
    if (runs.size() > 1) words += " · " + context.table().runs()[series.run].title;
    const bool older = std::ranges::any_of(report.series, [&](const analysis::RooflineSeries& other) {
      return other.algorithm == series.algorithm && analysis::is_newer(context.table(), other.run, series.run);
    });
    const Line empty{.label = words,
                     .identity = style::identity_of(series.algorithm),
                     .dashed = older,
                     .provenance = Provenance::derived};
    Line line = empty;
    for (const analysis::RooflinePoint& point : series.points) {
      const std::optional<double> intensity = point.intensity(analysis::RooflineLevel::dram);
      if (!intensity) continue;
      least = std::min(least, *intensity);
      most = std::max(most, *intensity);
      // Points of different provenance are never connected.
      if (!line.marks.empty() && line.provenance != point.provenance) chart.lines.push_back(std::exchange(line, empty));
      line.provenance = point.provenance;
      add_point(line, point, *intensity);
    }
    if (!line.marks.empty()) chart.lines.push_back(std::move(line));
  }
  if (chart.lines.empty()) return std::nullopt;
  add_roofs(chart, report, roofs.known, name, least / 2, most * 2);
  return chart;
}

}  // namespace

std::optional<Section> bytes_section(const Context& context) {
  return curve_section(context, PlotKind::bytes, "io");
}

std::optional<Section> time_section(const Context& context) {
  return curve_section(context, PlotKind::time, "time");
}

std::optional<Section> tiles_section(const Context& context) {
  constexpr std::size_t max_panels = 2;
  const Plot* plot = context.plot(PlotKind::maps);
  if (plot == nullptr) return std::nullopt;
  std::vector<LabeledMap> maps = find_maps(context, *plot);
  if (maps.empty()) return std::nullopt;
  const std::size_t all = maps.size();
  maps.resize(std::min(all, max_panels));
  // One color scale, so that maps can be compared.
  std::optional<double> low;
  double high = 0;
  for (const LabeledMap& each : maps) {
    if (each.map.minimum) low = std::min(low.value_or(*each.map.minimum), *each.map.minimum);
    high = std::max(high, each.map.maximum.value_or(0));
  }
  const LabeledMap& first = maps.front();
  const UnitScale shown = unit_scale(high, first.map.unit);
  const std::string name = metric_name(first.map);
  const std::string problem = problem_text(context, first.rows);
  const std::string runs = first.label.empty() ? text(analysis::runs_text(context.table(), first.map)) : std::string();
  Figure figure{.id = "tiles",
                .title = fmt::format("{} [{}] · {}{}{}", name, shown.suffix, problem, runs.empty() ? "" : " · ", runs)};
  std::string best;
  for (const LabeledMap& each : maps) {
    HeatMap picture = picture_of(context, each.map, low.value_or(0), high, shown);
    if (figure.panels.empty()) figure.caption = map_legend(picture);
    best += (best.empty() ? "" : " ") + best_text(each);
    std::string alt =
        text(msg::report::alt_map{.metric = name, .problem = problem, .ran = each.map.ok, .tiles = each.map.collected});
    figure.panels.push_back({.panel = each.label, .alt = std::move(alt), .picture = std::move(picture)});
  }
  if (!best.empty()) figure.caption += " " + best;
  figure.caption += context.unplotted_note(PlotKind::maps);
  if (all > maps.size()) figure.caption += " " + text(msg::report::panels_limited{.all = all, .shown = maps.size()});
  return Section{.title = text(msg::report::tiles{}), .figure = std::move(figure)};
}

std::optional<Section> roofline_section(const Context& context) {
  constexpr std::size_t max_panels = 2;
  const Plot* plot = context.plot(PlotKind::time);
  if (plot == nullptr) return std::nullopt;
  std::vector<LineChart> charts;
  std::vector<std::string> names;
  std::set<std::string> sources;
  for (const DeviceRoofline& roofs : make_rooflines(context, *plot)) {
    std::optional<LineChart> chart = roofline_chart(context, roofs);
    if (!chart || charts.size() == max_panels) continue;
    charts.push_back(*std::move(chart));
    names.push_back(gpu_of(context, roofs.run));
    sources.insert(roofs.sources);
  }
  if (charts.empty()) return std::nullopt;
  const std::string problem = problem_text(context, plot->filter.rows());
  const bool joined_points = std::ranges::any_of(charts, [](const LineChart& chart) {
    return std::ranges::any_of(
        chart.lines, [](const Line& line) { return line.provenance != Provenance::modeled && line.marks.size() > 1; });
  });
  const std::string of_device = charts.size() == 1 ? names.front() + " · " : std::string();
  Figure figure{.id = "roofline",
                .title = fmt::format("{} · {}{}", text(msg::report::roofline{}), of_device, problem),
                .caption = text(msg::report::roofline_key{.sources = join_texts(sources)})};
  if (joined_points) figure.caption += " " + text(msg::report::roofline_joined{});
  std::size_t panel = 0;
  add_panels(figure, std::move(charts), names, [&](const LineChart& chart) {
    std::size_t points = 0;
    for (const Line& line : chart.lines) points += line.provenance == Provenance::modeled ? 0 : line.marks.size();
    return text(msg::report::alt_roofline{.device = names[panel++], .points = points, .problem = problem});
  });
  return Section{
      .title = text(msg::report::roofline{}), .figure = std::move(figure), .text = bound_sentences(context, *plot)};
}

}  // namespace attnscope::report
