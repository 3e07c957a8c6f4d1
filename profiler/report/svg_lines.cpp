// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/report/svg.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

constexpr double label_height = 15;
constexpr double widest_label = 300;
constexpr double label_mark = 12;  ///< space of the marker before a label

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value, bool log) {
    if (!std::isfinite(value) || (log && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Returns the stroke classes of chart_style().
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
      for (const double value : {mark.y, mark.low, mark.high}) {
        if (value != 0 || !axis.log) extent.take(value, axis.log);
      }
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
  return extent.low > extent.high ? Extent{1, 2} : extent;
}

class LineChartPainter {
 public:
  LineChartPainter(const LineChart& chart, double top)
      : chart_(chart),
        top_(top + 6),
        right_(right_edge(chart)),
        // The plot is as tall as its labels.
        bottom_(top_ + std::max(chart.height, label_height * static_cast<double>(chart.lines.size()))) {
    const Extent x = range_of(chart, true);
    const Extent y = range_of(chart, false);
    x_ = Scale(chart.x, x.low, x.high, plot_left, right_);
    y_ = Scale(chart.y, y.low, y.high, bottom_, top_);
  }

  void draw_on(Svg& svg) const {
    draw_frame(svg);
    for (const Line& line : chart_.lines) draw_path(svg, line);
    for (const Line& line : chart_.lines) draw_marks(svg, line);
    draw_labels(svg);
  }
  [[nodiscard]] double lower_end() const { return bottom_ + 42; }

 private:
  static double right_edge(const LineChart& chart) {
    double widest = 60;
    for (const Line& line : chart.lines) widest = std::max(widest, width_of(line.label) + label_mark + 20);
    return picture_width - std::min(widest, widest_label);
  }
  [[nodiscard]] bool drawable(const Mark& mark) const {
    return std::isfinite(mark.x) && std::isfinite(mark.y) && (!chart_.x.log || mark.x > 0) &&
           (!chart_.y.log || mark.y > 0);
  }

  void draw_frame(Svg& svg) const {
    for (const Scale::Tick& tick : y_.ticks()) {
      svg.line(plot_left, y_.at(tick.at), right_, y_.at(tick.at), "g");
      svg.text(plot_left - 6, y_.at(tick.at) + 4, tick.label, Svg::Anchor::end);
    }
    for (const Scale::Tick& tick : x_.ticks()) {
      svg.line(x_.at(tick.at), bottom_, x_.at(tick.at), bottom_ + 4, "a");
      svg.text(x_.at(tick.at), bottom_ + 17, tick.label, Svg::Anchor::middle);
    }
    svg.line(plot_left, bottom_, right_, bottom_, "a");
    svg.line(plot_left, top_, plot_left, bottom_, "a");
    svg.text((plot_left + right_) / 2, bottom_ + 34, chart_.x.title, Svg::Anchor::middle);
    svg.vertical_text(14, (top_ + bottom_) / 2, chart_.y.title);
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

  void draw_marks(Svg& svg, const Line& line) const {
    const std::string color = color_class(line.identity);
    const std::string bar = "l b " + color;
    for (const Mark& mark : line.marks) {
      if (!drawable(mark) || mark.read_out_text.empty()) continue;
      const double x = x_.at(mark.x);
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
      if (last == line.marks.rend()) continue;
      labels.push_back({&line, x_.at(last->x), y_.at(last->y), y_.at(last->y)});
    }
    std::ranges::stable_sort(labels, {}, &Label::wanted);
    double above = top_ - label_height;
    for (Label& label : labels) above = label.y = std::max(label.y, above + label_height);
    double below = bottom_ + label_height;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label)
      below = label->y = std::min(label->y, below - label_height);
    for (const Label& label : labels) {
      svg.line(label.x + 6, label.wanted, right_ + 10, label.y, "lead " + color_class(label.line->identity));
      const bool marked = label.line->identity && label.line->provenance != Provenance::modeled;
      if (marked) svg.raw(marker(right_ + 16, label.y, *label.line->identity, mark_classes(*label.line)));
      const double x = right_ + (marked ? label_mark : 0) + 13;
      svg.text(x, label.y + 4, fit_text(label.line->label, picture_width - x), Svg::Anchor::start);
    }
  }

  const LineChart& chart_;
  double top_;
  double right_;
  double bottom_;
  Scale x_;
  Scale y_;
};

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

double draw(Svg& svg, const LineChart& lines, double top) {
  const LineChartPainter painter(lines, top);
  painter.draw_on(svg);
  return painter.lower_end();
}

}  // namespace attnscope::report
