// SPDX-License-Identifier: Apache-2.0
// Figures: panels in a row or a column, ratios below them, and a legend of values.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/report/svg.h"

namespace attnscope::report {
namespace {

constexpr double title_height = 24;
constexpr double axis_height = 40;
constexpr double panel_gap = 14;
constexpr double ratio_height = 64;
constexpr double legend_row_height = 16;
constexpr double legend_gap = 16;
constexpr double sample_width = 30;
/// Labels of panels side by side that are wider have no room.
constexpr double widest_narrow_label = 120;

std::vector<const LineChart*> line_charts(const Figure& figure) {
  std::vector<const LineChart*> charts;
  for (const Chart& each : figure.panels) {
    if (const auto* lines = std::get_if<LineChart>(&each.picture)) charts.push_back(lines);
  }
  return charts;
}

double room_for_labels(const std::vector<const LineChart*>& charts) {
  double room = 0;
  for (const LineChart* chart : charts) room = std::max(room, label_room(*chart));
  return room;
}

/// Draws panels with equal axes and titles above; the y axis has labels once.
double draw_row(Svg& svg, const Figure& figure, const std::vector<const LineChart*>& charts, double top) {
  const auto count = static_cast<double>(charts.size());
  const double labels = room_for_labels(charts);
  const double width = (picture_width - plot_left - panel_gap * (count - 1)) / count - labels;
  double left = plot_left;
  top += title_height;
  const double bottom = top + charts.front()->height;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    svg.text(left, top - 10, fit_text(figure.panels[i].panel, width + labels), Svg::Anchor::start, "h");
    draw_lines(svg, *charts[i],
               {.left = left, .right = left + width, .top = top, .bottom = bottom, .room = labels, .y_axis = i == 0});
    left += width + labels + panel_gap;
  }
  return bottom + axis_height;
}

double draw_panels(Svg& svg, const Figure& figure, Placement placed, double top) {
  const std::vector<const LineChart*> charts = line_charts(figure);
  if (figure.panels.size() > 1 && charts.size() == figure.panels.size() &&
      room_for_labels(charts) <= widest_narrow_label)
    return draw_row(svg, figure, charts, top);
  for (const Chart& chart : figure.panels) {
    if (!chart.panel.empty()) {
      svg.text(plot_left, top + 14, chart.panel, Svg::Anchor::start, "h");
      top += title_height;
    } else if (placed == Placement::embedded) {
      top += 4;
    }
    top = std::visit([&](const auto& picture) { return draw(svg, picture, top); }, chart.picture);
  }
  return top;
}

double draw_legend(Svg& svg, const Legend& legend, double top) {
  const std::size_t columns = legend.columns.size();
  double name_width = width_of(legend.corner);
  std::vector<double> widths;
  for (const std::string& title : legend.columns) widths.push_back(width_of(title));
  for (const LegendRow& row : legend.rows) {
    name_width = std::max(name_width, width_of(row.look.label));
    for (std::size_t k = 0; k < columns; ++k) widths[k] = std::max(widths[k], width_of(row.cells[k]));
  }
  const auto draw_row = [&](const std::string& name, const std::vector<std::string>& cells, std::string_view classes) {
    double right = plot_left + sample_width + name_width;
    svg.text(plot_left + sample_width, top + 12, name, Svg::Anchor::start, classes);
    for (std::size_t k = 0; k < columns; ++k) {
      right += legend_gap + widths[k];
      svg.text(right, top + 12, cells[k], Svg::Anchor::end, classes);
    }
    top += legend_row_height;
  };
  draw_row(legend.corner, legend.columns, "t u");
  for (const LegendRow& row : legend.rows) {
    draw_sample(svg, row.look, plot_left, top + 8);
    draw_row(row.look.label, row.cells, "t");
  }
  return top + 4;
}

}  // namespace

std::string to_svg(const Figure& figure, Placement placed) {
  Svg svg;
  double top = 4;
  if (placed == Placement::alone) {
    svg.title(plot_left, figure.title);
    top += title_height;
  }
  top = draw_panels(svg, figure, placed, top);
  if (figure.ratios) {
    const double bottom = top + ratio_height;
    draw_lines(svg, *figure.ratios,
               {.left = plot_left, .right = picture_width - 16, .top = top, .bottom = bottom, .room = 0});
    top = bottom + axis_height;
  }
  if (!figure.legend.rows.empty()) top = draw_legend(svg, figure.legend, top);
  std::string alt;
  for (const Chart& chart : figure.panels) {
    const std::string words = chart.panel.empty() ? chart.alt : fmt::format("{}: {}", chart.panel, chart.alt);
    alt += fmt::format("{}{}", alt.empty() ? "" : " ", words);
  }
  return svg.finish(figure.title, alt, figure.id, top, placed);
}

}  // namespace attnscope::report
