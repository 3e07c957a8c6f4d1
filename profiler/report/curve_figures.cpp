// SPDX-License-Identifier: Apache-2.0
// Figures of bytes and times over N.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "messages/report.h"
#include "profiler/report/report_parts.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

using analysis::Curve;
using analysis::CurveKind;
using analysis::CurvePoint;
using analysis::Plot;
using analysis::PlotKind;

std::string curve_text(const Context& context, const Curve& curve) {
  return curve.kind == CurveKind::compulsory ? text(msg::report::curve_minimum{}) : series_text(context, curve.name);
}

/// Returns the read-out of a point: "FA2, N 4096: 123456789 byte (123 MB), measured, quartiles 120 to 125". The first
/// value is as exported.
std::string read_out(const std::string& series, const CurvePoint& point, std::string_view unit) {
  const std::string value = fmt::format("{} {} ({})", exact_text(point.value), unit, value_text(point.value, unit));
  std::string words = text(msg::report::read_out{
      .n = exact_text(point.n), .origin = origin_text(point.provenance), .series = series, .value = value});
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

/// Adds nothing if no point has a value.
void add_figure(const Context& context, PlotKind kind, const std::string& id, std::vector<Figure>& figures) {
  const Plot* plot = context.plot(kind);
  if (plot == nullptr) return;
  const bool bytes = kind == PlotKind::bytes;
  const analysis::Quantity quantity = bytes ? analysis::Quantity::dram : analysis::Quantity::time;
  const analysis::CurveSet set = curves_of(context, *plot);
  LineChart chart;
  std::map<std::string, std::vector<std::string>> sides;  // key: algorithm; runs and devices
  std::vector<std::string> labels;
  bool has_values = false;
  for (const Curve& curve : set.curves) {
    const bool minimum = curve.kind == CurveKind::compulsory;
    if (minimum ? !bytes : curve.quantity != quantity) continue;
    has_values = has_values || (curve.kind == CurveKind::measured && !curve.points.empty());
    Line line{.label = curve_text(context, curve), .provenance = curve.provenance};
    if (!minimum) {
      line.identity = style::identity_of(curve.name.algorithm);
      const std::string side = fmt::format("{}\n{}\n{}", curve.name.label, curve.name.device, curve.name.age);
      std::vector<std::string>& known = sides[curve.name.algorithm];
      if (std::ranges::find(known, side) == known.end()) known.push_back(side);
      line.dashed = known.front() != side;
    }
    for (const CurvePoint& point : curve.points) {
      line.marks.push_back(
          {point.n, point.value, point.low, point.high, read_out(line.label, point, bytes ? "byte" : "ns")});
    }
    labels.push_back(line.label);
    chart.lines.push_back(std::move(line));
  }
  if (!has_values) return;
  chart.x = {set.queries ? text(msg::report::axis_keys{.n_q = *set.queries}) : text(msg::report::axis_length{}),
             Quantity::length, true};
  chart.y = {bytes ? text(msg::report::axis_bytes{}) : text(msg::report::axis_time{}),
             bytes ? Quantity::bytes : Quantity::nanoseconds, true};
  const std::string name = bytes ? text(msg::report::dram_bytes{}) : text(msg::report::median_time{});
  const auto is_unknown = [&](analysis::Row row) { return context.table().spec(row).cache == CacheState::unknown; };
  const bool unknown = bytes && std::ranges::any_of(plot->filter.rows(), is_unknown);
  const std::string of_warm = unknown ? " " + text(msg::report::warm_below_compulsory{}) : "";
  Figure figure{.id = id, .caption = key_of(chart) + of_warm + context.unplotted_note(kind), .chart = {}};
  figure.chart.title = fmt::format("{} · {}", name, plot->filter.summary());
  figure.chart.alt = text(msg::report::alt_curves{.lines = chart.lines.size(),
                                                  .list = fmt::format("{}", fmt::join(labels, ", ")),
                                                  .problem = plot->filter.summary(),
                                                  .what = name});
  figure.chart.picture = std::move(chart);
  figures.push_back(std::move(figure));
}

}  // namespace

void add_curves(const Context& context, std::vector<Figure>& figures) {
  add_figure(context, PlotKind::bytes, "io", figures);
  add_figure(context, PlotKind::time, "time", figures);
}

}  // namespace attnscope::report
