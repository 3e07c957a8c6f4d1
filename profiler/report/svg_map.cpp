// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "profiler/report/svg.h"
#include "profiler/units/number_format.h"

namespace attnscope::report {
namespace {

/// Returns brightness in [0, 1]; 1 is the best value.
double brightness(const HeatMap& map, double value) {
  if (!(map.high > map.low)) return 0.6;
  const bool log = map.low > 0;
  const double share =
      log ? std::log(value / map.low) / std::log(map.high / map.low) : (value - map.low) / (map.high - map.low);
  return map.less_is_better ? 1 - share : share;
}

void draw_cell(Svg& svg, const HeatMap& map, const MapCell& cell, double x, double y, double width, double height) {
  if (cell.read_out_text.empty()) return;
  svg.open_mark(cell.read_out_text);
  if (cell.value) {
    std::string ink;
    if (map.slowdowns) {
      const std::size_t bin = style::slowdown_bin(*cell.value / map.low);
      svg.rect(x, y, width, height, fmt::format("p b{}", bin));
      ink = fmt::format("u{}", bin);
    } else {
      const style::Rgb fill = style::viridis(brightness(map, *cell.value));
      svg.rect(x, y, width, height, "p", fmt::format(R"(fill="{}")", style::hex(fill)));
      ink = style::readable_on(fill) == 0xffffff ? "dark" : "light";
    }
    if (width_of(cell.text) <= width - 2 && height >= 12) {
      svg.text(x + width / 2, y + height / 2 + 4, cell.text, Svg::Anchor::middle, ink);
    }
    if (cell.hollow) svg.rect(x + 1.5, y + 1.5, width - 3, height - 3, "sim");
    if (cell.best) svg.rect(x + 1, y + 1, width - 2, height - 2, "best");
  } else {
    svg.rect(x, y, width, height, "n");
    svg.line(x, y + height, x + width, y, "hatch");
    if (width_of(cell.text) <= width - 2 && height >= 12)
      svg.text(x + width / 2, y + height / 2 + 4, cell.text, Svg::Anchor::middle);
  }
  svg.close();
}

/// Key of the bins: upper limits of the slowdown, and the fastest time.
void draw_bins(Svg& svg, const HeatMap& map, double y) {
  constexpr double left = plot_left;
  constexpr double width = 64;
  for (std::size_t bin = 0; bin < style::slowdown_bins; ++bin) {
    const double x = left + static_cast<double>(bin) * width;
    svg.rect(x, y - 2, width - 2, 16, fmt::format("b{}", bin));
    svg.text(x + width / 2 - 1, y + 10, style::slowdown_label(bin), Svg::Anchor::middle, fmt::format("u{}", bin));
  }
  svg.text(left + style::slowdown_bins * width + 8, y + 10,
           fmt::format("0% = {} {}", number_text(map.low, map.digits), map.unit_text), Svg::Anchor::start);
}

void draw_key(Svg& svg, const HeatMap& map, double y) {
  constexpr int steps = 24;
  constexpr double left = plot_left;
  constexpr double width = 9;
  for (int k = 0; k < steps; ++k) {
    svg.rect(left + k * width, y, width + 0.5, 10, "",
             fmt::format(R"(fill="{}")", style::hex(style::viridis((k + 0.5) / steps))));
  }
  const double dark = map.less_is_better ? map.high : map.low;
  const double bright = map.less_is_better ? map.low : map.high;
  svg.text(left - 6, y + 9, number_text(dark, map.digits), Svg::Anchor::end);
  svg.text(left + steps * width + 6, y + 9, number_text(bright, map.digits) + " " + map.unit_text, Svg::Anchor::start);
}

}  // namespace

double draw(Svg& svg, const HeatMap& map, double top) {
  constexpr double left = plot_left;
  const double columns = std::max<double>(1, static_cast<double>(map.columns.size()));
  const double rows = std::max<double>(1, static_cast<double>(map.rows.size()));
  const double width = std::min(80.0, (picture_width - left - 10) / columns);
  const double height = std::clamp(300 / rows, 16.0, 26.0);
  for (std::size_t row = 0; row < map.cells.size(); ++row) {
    // Smallest value at the bottom, as on an axis.
    const double y = top + (rows - 1 - static_cast<double>(row)) * height;
    svg.text(left - 6, y + height / 2 + 4, map.rows[row], Svg::Anchor::end);
    for (std::size_t column = 0; column < map.cells[row].size(); ++column) {
      draw_cell(svg, map, map.cells[row][column], left + static_cast<double>(column) * width, y, width, height);
    }
  }
  const double bottom = top + rows * height;
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    svg.text(left + (static_cast<double>(column) + 0.5) * width, bottom + 15, map.columns[column], Svg::Anchor::middle);
  }
  svg.text(left + columns * width / 2, bottom + 32, map.x_title, Svg::Anchor::middle);
  svg.vertical_text(14, top + rows * height / 2, map.y_title);
  if (map.slowdowns) {
    draw_bins(svg, map, bottom + 46);
  } else if (map.high > map.low) {
    draw_key(svg, map, bottom + 46);
  }
  return bottom + 66;
}

}  // namespace attnscope::report
