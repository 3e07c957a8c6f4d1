// SPDX-License-Identifier: Apache-2.0
// Line charts, and figures: panels in a row or a column, ratios below them, and a legend of values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/report/svg.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {

namespace {

constexpr double label_height = 15;
constexpr double label_gap = 4;
constexpr double widest_label = 300;
constexpr double longest_lead = 90;  ///< from the end of a line to its label
constexpr double label_mark = 12;    ///< space of the marker before a label

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value, bool log) {
    if (!std::isfinite(value) || (log && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string_view stroke_classes(const Line& line) {
  if (line.provenance == Provenance::modeled) return "l i";
  if (is_simulated(line.provenance)) return "l d";
  return line.dashed ? "l s q" : "l s";
}

std::string mark_classes(const Line& line) {
  return (is_simulated(line.provenance) ? "e " : "f ") + color_class(line.identity);
}

Extent extent_of(const LineChart& chart, bool of_x) {
  const Axis& axis = of_x ? chart.x : chart.y;
  Extent extent;
  for (const Line& line : chart.lines) {
    for (const Mark& mark : line.marks) {
      if (of_x) {
        extent.take(mark.x, axis.log);
        continue;
      }
      extent.take(mark.y, axis.log);
      if (mark.low >= mark.high) continue;
      for (const double value : {mark.low, mark.high}) extent.take(value, axis.log);
    }
  }
  return extent;
}

/// Returns the range of an axis: as given, or that of the marks.
Extent range_of(const LineChart& chart, bool of_x) {
  const Axis& axis = of_x ? chart.x : chart.y;
  if (axis.low < axis.high) return {axis.low, axis.high};
  Extent extent = extent_of(chart, of_x);
  if (!of_x && !axis.log && axis.from_zero) extent.low = std::min(extent.low, 0.0);
  if (!of_x && chart.band > 0) {
    for (const double edge : {1 / (1 + 2 * chart.band), 1 + 2 * chart.band}) extent.take(edge, axis.log);
  }
  return extent.low > extent.high ? Extent{1, 2} : extent;
}

/// Lines with end labels: a legend names all others.
bool has_end_label(const LineChart& chart, const Line& line) {
  return !chart.has_legend || (line.identity && line.provenance != Provenance::modeled);
}

class LineChartPainter {
 public:
  LineChartPainter(const LineChart& chart, const PlotBox& box) : chart_(chart), box_(box) {
    const Extent x = range_of(chart, true);
    const Extent y = range_of(chart, false);
    x_ = Scale(chart.x, x.low, x.high, box.left, box.right);
    y_ = Scale(chart.y, y.low, y.high, box.bottom, box.top);
  }

  void draw_on(Svg& svg) const {
    draw_frame(svg);
    for (const Line& line : chart_.lines) draw_path(svg, line);
    const std::vector<std::vector<double>> shifts = shift_marks();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) draw_marks(svg, chart_.lines[i], shifts[i]);
    if (box_.room > 0) draw_labels(svg);
  }

 private:
  [[nodiscard]] bool drawable(const Mark& mark) const {
    return std::isfinite(mark.x) && std::isfinite(mark.y) && (!chart_.x.log || mark.x > 0) &&
           (!chart_.y.log || mark.y > 0);
  }

  void draw_frame(Svg& svg) const {
    if (chart_.band > 0) {
      const double low = y_.at(1 / (1 + chart_.band));
      const double high = y_.at(1 + chart_.band);
      svg.rect(box_.left, high, box_.right - box_.left, low - high, "band");
    }
    for (const Scale::Tick& tick : y_.ticks()) {
      svg.line(box_.left, y_.at(tick.at), box_.right, y_.at(tick.at), "g");
      if (box_.y_axis) svg.text(box_.left - 6, y_.at(tick.at) + 4, tick.label, Svg::Anchor::end);
    }
    if (chart_.band > 0) svg.line(box_.left, y_.at(1), box_.right, y_.at(1), "a");
    double end = 0;  // right end of the last label
    for (const Scale::Tick& tick : x_.ticks()) {
      svg.line(x_.at(tick.at), box_.bottom, x_.at(tick.at), box_.bottom + 4, "a");
      const double half = width_of(tick.label) / 2;
      if (x_.at(tick.at) - half < end) continue;
      end = x_.at(tick.at) + half + label_gap;
      svg.text(x_.at(tick.at), box_.bottom + 17, tick.label, Svg::Anchor::middle);
    }
    svg.line(box_.left, box_.bottom, box_.right, box_.bottom, "a");
    svg.line(box_.left, box_.top, box_.left, box_.bottom, "a");
    const double width = box_.right - box_.left + box_.room;
    svg.text((box_.left + box_.right) / 2, box_.bottom + 33, fit_text(chart_.x.title, width), Svg::Anchor::middle);
    if (box_.y_axis) svg.vertical_text(14, (box_.top + box_.bottom) / 2, chart_.y.title);
  }

  /// Returns the horizontal offset of each mark, so that marks of several lines at one place do not hide each other.
  [[nodiscard]] std::vector<std::vector<double>> shift_marks() const {
    constexpr double closeness = 5;
    constexpr double step = 7;
    constexpr std::size_t most_shifted = 4;
    struct Place {
      double x;
      double y;
      std::size_t line;
      std::size_t mark;
    };
    std::vector<Place> places;
    std::vector<std::vector<double>> shifts;
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) {
      const Line& line = chart_.lines[i];
      shifts.emplace_back(line.marks.size(), 0.0);
      for (std::size_t k = 0; k < line.marks.size() && line.provenance != Provenance::modeled; ++k) {
        if (drawable(line.marks[k])) places.push_back({x_.at(line.marks[k].x), y_.at(line.marks[k].y), i, k});
      }
    }
    std::ranges::stable_sort(places, {}, [](const Place& each) { return std::pair(std::lround(each.x), each.y); });
    const auto is_close = [&](const Place& a, const Place& b) {
      return std::lround(a.x) == std::lround(b.x) && b.y - a.y <= closeness;
    };
    for (std::size_t first = 0; first < places.size();) {
      std::size_t end = first + 1;
      while (end < places.size() && is_close(places[end - 1], places[end])) ++end;
      const std::size_t count = end - first;
      for (std::size_t k = 0; k < count && count > 1 && count <= most_shifted; ++k) {
        const Place& place = places[first + k];
        shifts[place.line][place.mark] = step * (static_cast<double>(k) - static_cast<double>(count - 1) / 2);
      }
      first = end;
    }
    return shifts;
  }

  void draw_path(Svg& svg, const Line& line) const {
    std::string path;
    for (const Mark& mark : line.marks) {
      if (!drawable(mark)) continue;
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x_.at(mark.x)), coordinate(y_.at(mark.y)));
    }
    if (path.find('L') == std::string::npos) {
      // A single modeled point has no marker: draw a dash.
      if (path.empty() || line.provenance != Provenance::modeled) return;
      path += "m-12 0h24";
    }
    svg.raw(fmt::format(R"(<path d="{}" class="{} {}"/>)", path, stroke_classes(line), color_class(line.identity)));
  }

  void draw_marks(Svg& svg, const Line& line, const std::vector<double>& shifts) const {
    const std::string color = color_class(line.identity);
    const std::string bar = "l b " + color;
    for (std::size_t i = 0; i < line.marks.size(); ++i) {
      const Mark& mark = line.marks[i];
      if (!drawable(mark) || mark.read_out_text.empty()) continue;
      const double x = x_.at(mark.x) + shifts[i];
      svg.open_mark(mark.read_out_text);
      if (mark.high > mark.low && (!chart_.y.log || mark.low > 0)) {
        const double low = y_.at(mark.low);
        const double high = y_.at(mark.high);
        if (low - high > 8) {
          svg.line(x, low, x, high, bar);
          svg.line(x - 3, low, x + 3, low, bar);
          svg.line(x - 3, high, x + 3, high, bar);
        }
      }
      if (line.provenance == Provenance::modeled) {
        // Invisible hover target.
        svg.raw(
            fmt::format(R"(<circle cx="{}" cy="{}" r="3" opacity="0"/>)", coordinate(x), coordinate(y_.at(mark.y))));
      } else {
        svg.raw(marker(x, y_.at(mark.y), line.identity.value_or(style::PlotIdentity{}), mark_classes(line)));
      }
      svg.close();
    }
  }

  /// Draws labels at the line ends, shifted where they would overlap.
  void draw_labels(Svg& svg) const {
    struct Label {
      const Line* line;
      double x;
      double wanted;
      double y;
    };
    std::vector<Label> labels;
    for (const Line& line : chart_.lines) {
      const auto last = std::ranges::find_if(line.marks.rbegin(), line.marks.rend(),
                                             [&](const Mark& mark) { return drawable(mark); });
      if (last == line.marks.rend() || !has_end_label(chart_, line)) continue;
      labels.push_back({&line, x_.at(last->x), y_.at(last->y), y_.at(last->y)});
    }
    std::ranges::stable_sort(labels, {}, &Label::wanted);
    double above = box_.top - label_height;
    for (Label& label : labels) above = label.y = std::max(label.y, above + label_height);
    double below = box_.bottom + label_height;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label)
      below = label->y = std::min(label->y, below - label_height);
    for (const Label& label : labels) {
      if (label.x > box_.right - longest_lead)
        svg.line(label.x + 6, label.wanted, box_.right + 10, label.y, "lead " + color_class(label.line->identity));
      const bool marked = label.line->identity && label.line->provenance != Provenance::modeled;
      if (marked) svg.raw(marker(box_.right + 16, label.y, *label.line->identity, mark_classes(*label.line)));
      const double x = box_.right + (marked ? label_mark : 0) + 13;
      svg.text(x, label.y + 4, fit_text(label.line->label, box_.right + box_.room - x), Svg::Anchor::start);
    }
  }

  const LineChart& chart_;
  PlotBox box_;
  Scale x_;
  Scale y_;
};

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

std::string marker(double x, double y, style::PlotIdentity identity, std::string_view classes) {
  constexpr double radius = 4;
  const std::vector<style::MarkerPoint> corners = style::marker_outline(identity);
  if (corners.empty()) {
    return fmt::format(R"(<circle cx="{}" cy="{}" r="{}" class="{}"/>)", coordinate(x), coordinate(y), radius, classes);
  }
  std::string path;
  for (const style::MarkerPoint& corner : corners) {
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x + radius * corner.x),
                        coordinate(y + radius * corner.y));
  }
  return fmt::format(R"(<path d="{}z" class="{}"/>)", path, classes);
}

void share_ranges(std::vector<LineChart>& charts) {
  for (const bool of_x : {true, false}) {
    Extent all;
    for (const LineChart& chart : charts) {
      const Extent extent = extent_of(chart, of_x);
      all = {std::min(all.low, extent.low), std::max(all.high, extent.high)};
    }
    for (LineChart& chart : charts) {
      Axis& axis = of_x ? chart.x : chart.y;
      if (!of_x && !axis.log && axis.from_zero) all.low = std::min(all.low, 0.0);
      std::tie(axis.low, axis.high) = std::pair(all.low, all.high);
    }
  }
}

double label_room(const LineChart& chart) {
  double widest = 40;
  for (const Line& line : chart.lines) {
    if (has_end_label(chart, line)) widest = std::max(widest, width_of(line.label) + label_mark + 20);
  }
  return std::min(widest, widest_label);
}

void draw_lines(Svg& svg, const LineChart& chart, const PlotBox& box) {
  LineChartPainter(chart, box).draw_on(svg);
}

void draw_sample(Svg& svg, const Line& line, double x, double y) {
  constexpr double width = 24;
  svg.line(x, y, x + width, y, fmt::format("{} {}", stroke_classes(line), color_class(line.identity)));
  if (line.identity && line.provenance != Provenance::modeled)
    svg.raw(marker(x + width / 2, y, *line.identity, mark_classes(line)));
}

double draw(Svg& svg, const LineChart& chart, double top) {
  const double room = label_room(chart);
  top += 6;
  // The plot is as tall as its labels.
  const double bottom = top + std::max(chart.height, label_height * static_cast<double>(chart.lines.size()));
  draw_lines(svg, chart, {.right = picture_width - room, .top = top, .bottom = bottom, .room = room});
  return bottom + 42;
}

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
