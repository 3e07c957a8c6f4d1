// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
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
constexpr double widest_label = 290;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value, bool log) {
    if (!std::isfinite(value) || (log && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Returns the stroke class of chart_style(): solid, thin dashed, dotted, dash-dotted.
char stroke_class(Provenance provenance) {
  switch (provenance) {
    case Provenance::measured:
    case Provenance::derived:
      return 's';
    case Provenance::modeled:
      return 'i';
    case Provenance::simulated:
    case Provenance::extrapolated:
      return 'd';
    case Provenance::imported:
      return 'k';
  }
  return 's';
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
    for (const Line& line : chart.lines) widest = std::max(widest, width_of(line.label) + 22);
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
    svg.raw(fmt::format(R"(<path d="{}" class="{} l{}"/>)", path, stroke_class(line.provenance),
                        line.color % palette_size));
  }

  void draw_marks(Svg& svg, const Line& line) const {
    const int color = line.color % palette_size;
    for (const Mark& mark : line.marks) {
      if (!drawable(mark) || mark.read_out_text.empty()) continue;
      const double x = x_.at(mark.x);
      svg.open_mark(mark.read_out_text);
      if (mark.high > mark.low && (!chart_.y.log || mark.low > 0)) {
        const double low = y_.at(mark.low);
        const double high = y_.at(mark.high);
        if (low - high > 8) {
          svg.line(x, low, x, high, fmt::format("b l{}", color));
          svg.line(x - 3, low, x + 3, low, fmt::format("b l{}", color));
          svg.line(x - 3, high, x + 3, high, fmt::format("b l{}", color));
        }
      }
      if (line.provenance == Provenance::modeled) {
        // Invisible hover target.
        svg.raw(fmt::format(R"(<circle cx="{}" cy="{}" r="3" class="w{}" opacity="0"/>)", coordinate(x),
                            coordinate(y_.at(mark.y)), color));
      } else {
        svg.raw(marker(x, y_.at(mark.y), line.color,
                       fmt::format("{}{}", is_simulated(line.provenance) ? 'e' : 'f', color)));
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
      const int color = label.line->color % palette_size;
      svg.line(label.x + 6, label.wanted, right_ + 12, label.y, fmt::format("lead l{}", color));
      svg.text(right_ + 15, label.y + 4, fit_text(label.line->label, picture_width - right_ - 15), Svg::Anchor::start,
               fmt::format("w{}", color));
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

std::string marker(double x, double y, int color, std::string_view classes) {
  const std::string at_x = coordinate(x);
  const std::string at_y = coordinate(y);
  if (color % palette_size >= palette_hues) {
    constexpr std::array<std::string_view, 4> others{"m-1.7 -5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
                                                     "m-5.4 -2.6h10.8v5.2h-10.8z", "m0 5l-4.6 -8.4h9.2z",
                                                     "m-5.4 0l2.7 -4.6h5.4l2.7 4.6l-2.7 4.6h-5.4z"};
    return fmt::format(R"(<path d="M{} {}{}" class="{}"/>)", at_x, at_y,
                       others.at(static_cast<std::size_t>(color % palette_hues) % others.size()), classes);
  }
  switch (color % 4) {
    case 0:
      return fmt::format(R"(<circle cx="{}" cy="{}" r="4" class="{}"/>)", at_x, at_y, classes);
    case 1:
      return fmt::format(R"(<rect x="{}" y="{}" width="7.4" height="7.4" class="{}"/>)", coordinate(x - 3.7),
                         coordinate(y - 3.7), classes);
    case 2:
      return fmt::format(R"(<path d="M{} {}l4.6 8.4h-9.2z" class="{}"/>)", at_x, coordinate(y - 5), classes);
    default:
      return fmt::format(R"(<path d="M{} {}l5.2 5.2l-5.2 5.2l-5.2 -5.2z" class="{}"/>)", at_x, coordinate(y - 5.2),
                         classes);
  }
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
